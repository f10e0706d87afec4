# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: plan
short_description: Find out which clusters a run creates, and which exist
version_added: 0.1.0
description:
  - Reads the settings and the records of this run; no cluster is contacted.
author: The psap.perf developers (@openshift-psap)
options:
  methods:
    description: Methods by which clusters are created, by the host's name; V(existing) creates none.
    type: dict
    default: {}
  differing:
    description: Arguments, by the host's name, of the command that creates its cluster, without the role's prefix.
    type: dict
    default: {}
  installs:
    description:
      - The cluster of the task's host is installed on hosts that the run books, and is destroyed with their release.
    type: bool
    default: false
  keeps:
    description:
      - These hosts and the cluster stay, unless the run never reached the cluster; the cluster is then cleaned up.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Plan the clusters
  psap.perf.clusters.plan:
    methods: {sutest: hive, driver: existing}
  register: perf_clusters
"""

RETURN = r"""
creations:
  description:
    - The clusters that the run creates or has created, with C(host), C(method), C(arguments), the C(phase) of the
      record and whether it is C(kept).
  type: list
  elements: dict
  returned: success
access:
  description: The variables C(perf_kubeconfig) and C(perf_kube_context) of each existing cluster, with its C(host).
  type: list
  elements: dict
  returned: success
unusable:
  description: Hosts of existing clusters whose kubeconfig cannot be read.
  type: list
  elements: str
  returned: success
missing:
  description: Hosts whose clusters do not exist.
  type: list
  elements: str
  returned: success
leaving:
  description: Whether the only remaining step for the cluster of the task's host is its destruction.
  type: bool
  returned: success
"""
