# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: capture
short_description: Capture objects, events and logs
version_added: 0.1.0
description:
  - Writes what the cluster says to C(artifacts/) of the command; of objects a C(.yml) file with all, and a C(.txt)
    file with the server's table.
  - What it could not get is in its result and in C(artifacts/not_captured.txt); it never fails, so that it never hides
    the failure that it documents.
author: The psap.perf developers (@openshift-psap)
options:
  namespace:
    description: The namespace of objects and logs that name none; its events are kept too.
    type: str
  objects:
    description: What to keep.
    type: list
    elements: dict
    default: []
    suboptions:
      kind:
        description: The objects' kind.
        type: str
        required: true
      api_version:
        description: Their API group, whose version the server chooses, or group and version; known kinds need none.
        type: str
      name:
        description: One object by its name.
        type: str
      namespace:
        description: Where they live; O(namespace) if not given, and all namespaces if that is not given either.
        type: str
      label_selector:
        description: Which objects, as kubectl's C(-l).
        type: str
      file:
        description: The file's name below C(artifacts/), without ending; the kind's if not given.
        type: str
      formats:
        description: V(yaml) is the C(.yml) file, V(table) the C(.txt) file.
        type: list
        elements: str
        choices: [yaml, table]
        default: [yaml, table]
      show_labels:
        description: Whether the table ends with the labels.
        type: bool
        default: false
      when_served:
        description: Leave it out, without saying so, where the cluster does not serve the kind.
        type: bool
        default: false
  about:
    description:
      - V(cluster) keeps C(cluster.yml), its version, address, uid, and what it simulates.
      - V(project) keeps C(project.yml), the project's git revision and the versions at work here.
    type: list
    elements: str
    choices: [cluster, project]
    default: []
  events:
    description: Namespaces whose events are kept; V(*) keeps those of all namespaces in one file.
    type: list
    elements: str
    default: []
  logs:
    description:
      - Pods whose logs are kept, one file for each container, C(log_<pod>_<container>.txt) with the last lines, or
        C(logs/<pod>.log) with all of them.
    type: list
    elements: dict
    default: []
    suboptions:
      namespace:
        description: Where the pods live; O(namespace) if not given.
        type: str
      label_selector:
        description: Which pods, as kubectl's C(-l).
        type: str
      tail:
        description: The last so many lines.
        type: int
        default: 10000
      whole:
        description: Keep all that the cluster still has, with the time of each line, whatever O(logs[].tail) says.
        type: bool
        default: false
      init:
        description: With O(logs[].whole), keep the logs of init containers, too, as C(logs/<pod>_<container>.log).
        type: bool
        default: false
"""

EXAMPLES = r"""
- name: Keep the state of the server
  psap.perf.capture:
    namespace: redis
    objects:
      - {kind: Deployment}
      - {kind: Pod}
    logs:
      - {label_selector: app=redis}
"""

RETURN = r"""
files:
  description: The files written, relative to the command's directory.
  type: list
  elements: str
  returned: always
not_captured:
  description: What could not be had, and why.
  type: list
  elements: str
  returned: always
"""
