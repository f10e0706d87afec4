# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: patch
short_description: Change fields of existing objects
version_added: 0.1.0
description:
  - For objects with other creators, such as an operator's Deployment, a node's labels or the configuration of a
    program. M(psap.perf.apply) would become the owner of its fields, and would later remove fields that its manifest no
    longer has.
  - Other fields are kept. Fields that already have their values do not count as a change.
  - In check mode it returns what would change; it assumes that earlier commands create missing objects.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.query]
options:
  change:
    description:
      - The fields to set. Dictionaries merge by key, null removes a key, everything else, including lists, is replaced.
      - Without O(name) and O(label_selector), which exclude each other, all objects of the kind are changed.
    type: dict
    required: true
  key:
    description:
      - A key of the ConfigMap O(name) in O(namespace) whose text is a YAML dictionary; O(change) applies to its values.
        A changed text loses its comments. A text that is not a YAML dictionary is refused.
      - A ConfigMap that is missing is created.
    type: str
"""

EXAMPLES = r"""
- name: Stop the operator
  psap.perf.patch:
    kind: Deployment
    name: rhods-operator
    namespace: redhat-ods-operator
    change: {spec: {replicas: 0}}

- name: Remove a label from all nodes
  psap.perf.patch:
    kind: Node
    change: {metadata: {labels: {nvidia.com/gpu.present: null}}}

- name: Enable the monitoring of users' workloads
  psap.perf.patch:
    kind: ConfigMap
    name: cluster-monitoring-config
    namespace: openshift-monitoring
    key: config.yaml
    change: {enableUserWorkload: true}
"""

RETURN = r"""
patched:
  description: The objects that changed.
  type: list
  elements: str
  returned: success
  sample: [Deployment redhat-ods-operator/rhods-operator]
"""
