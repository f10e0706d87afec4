# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: capture
short_description: Capture objects, events and logs
version_added: 0.1.0
description:
  - Writes the state of the cluster to C(artifacts/) of the command; for objects a C(.yml) file with all, and a C(.txt)
    file with the server's table.
  - Its result and C(artifacts/not_captured.txt) list everything that could not be captured; it never fails, so that it
    never hides the failure that it documents.
author: The psap.perf developers (@openshift-psap)
options:
  namespace:
    description: The namespace of objects and logs without one; its events are captured too.
    type: str
  objects:
    description: The objects to capture.
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
        description: Name of a single object.
        type: str
      namespace:
        description: Their namespace; by default O(namespace), or else all namespaces.
        type: str
      label_selector:
        description: Label selector of the objects, in the format of kubectl's C(-l).
        type: str
      file:
        description: The file's name below C(artifacts/), without suffix; by default the kind.
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
        description: Omit it without a note if the cluster does not serve the kind.
        type: bool
        default: false
  about:
    description:
      - V(cluster) writes C(cluster.yml) with its version, address, uid, and simulated parts.
      - V(project) writes C(project.yml) with the project's git revision and the versions of packages.
    type: list
    elements: str
    choices: [cluster, project]
    default: []
  events:
    description: Namespaces whose events are captured; V(*) captures all namespaces to one file.
    type: list
    elements: str
    default: []
  logs:
    description:
      - Pods whose logs are captured, one file for each container, C(log_<pod>_<container>.txt) with the last lines, or
        C(logs/<pod>.log) with all of them.
    type: list
    elements: dict
    default: []
    suboptions:
      namespace:
        description: Namespace of the pods; by default O(namespace).
        type: str
      label_selector:
        description: Label selector of the pods, in the format of kubectl's C(-l).
        type: str
      tail:
        description: Number of last lines.
        type: int
        default: 10000
      whole:
        description: Capture all lines that the cluster still has, with their times, regardless of O(logs[].tail).
        type: bool
        default: false
      init:
        description: With O(logs[].whole), also capture the logs of init containers, as C(logs/<pod>_<container>.log).
        type: bool
        default: false
  programs:
    description:
      - Programs to run in a pod, whose output is captured, such as a dump of a database. If there is no pod, or the
        exit code is not 0, the output is missing.
    type: list
    elements: dict
    default: []
    suboptions:
      namespace:
        description: Namespace of the pod; by default O(namespace).
        type: str
      label_selector:
        description: Label selector of the pod, in the format of kubectl's C(-l); the first one is used.
        type: str
        required: true
      container:
        description: Container in which the program runs.
        type: str
        required: true
      command:
        description: The program and its arguments. To pass a secret, read it from the environment of the container.
        type: list
        elements: str
        required: true
      file:
        description: Name of the file below C(artifacts/).
        type: str
        required: true
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
  description: What could not be captured, and the reasons.
  type: list
  elements: str
  returned: always
"""
