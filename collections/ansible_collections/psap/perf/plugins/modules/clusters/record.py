# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: record
short_description: Read or write the record of a cluster that the run creates
version_added: 0.1.0
description:
  - The record suffices to destroy the cluster. It is written before the first request that creates a resource, and
    after each step that adds to it. It never contains a secret.
  - With O(phase), the verb writes the record; options that are not set keep their former values. Without it, the verb
    only reads.
  - V(creating) creates the record and the folder of the cluster, readable by its owner only. It does not change a
    record that is V(created), and begins a V(destroyed) one again.
  - V(destroyed) removes the folder.
author: The psap.perf developers (@openshift-psap)
options:
  record:
    description: Path of the record; by default the record of O(host) in this run.
    type: path
    default: ""
  host:
    description: The inventory host whose cluster it is, such as V(sutest) or V(driver).
    type: str
    default: sutest
  name:
    description: Its name; from O(prefix), the host and the run if empty.
    type: str
    default: ""
  prefix:
    description: Prefix of its name.
    type: str
    default: perf
  owner:
    description: Its owner; by default the user who runs Ansible.
    type: str
    default: ""
  time_to_live:
    description: Its lifetime, in seconds or as V(12h).
    type: str
    default: 12h
  tags:
    description: Tags of its resources.
    type: dict
    default: {}
  folder:
    description:
      - Parent of the folder for its kubeconfig and other files; by default E(PERF_CLUSTERS_DIR), else
        C(psap-perf/clusters) of E(XDG_STATE_HOME).
    type: path
    default: ""
  phase:
    description: Phase to record; empty to read the record.
    type: str
    choices: ["", creating, created, destroyed]
    default: ""
  method:
    description: Method of its creation; required without a record.
    type: str
    choices: [hive, ocp, osd]
  keep:
    description: The cluster stays when the run ends.
    type: bool
  kubeconfig:
    description: Path of its kubeconfig, in its folder.
    type: path
  api:
    description: Address of its API.
    type: str
  console:
    description: Address of its console.
    type: str
  password_file:
    description: Path of a file with its administrator's password, in its folder.
    type: path
  password_user:
    description: Name of the administrator.
    type: str
  destruction:
    description: Data that the method needs to destroy it; they are merged into the recorded ones.
    type: dict
    default: {}
  secrets:
    description: References to secrets for this, such as V(file:NAME); they are merged into the recorded ones.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Record the cluster before it is created
  psap.perf.clusters.record:
    host: "{{ shared_created_cluster_host }}"
    phase: creating
    method: ocp
    time_to_live: "{{ cluster_create_ocp_time_to_live }}"
    destruction: {region: "{{ cluster_create_ocp_region }}"}
  register: recorded

- name: Record its creation
  psap.perf.clusters.record:
    host: "{{ shared_created_cluster_host }}"
    phase: created
    kubeconfig: "{{ recorded.cluster.folder }}/kubeconfig"
"""

RETURN = r"""
cluster:
  description:
    - The record, with C(name), C(phase), C(folder), C(kubeconfig), C(destruction) and its other fields; empty if it is
      missing.
  type: dict
  returned: success
record:
  description: Path of the record.
  type: str
  returned: success
"""
