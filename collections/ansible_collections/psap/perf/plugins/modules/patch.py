# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: patch
short_description: Change fields of existing objects
version_added: 0.1.0
description:
  - For objects that others made, such as an operator's Deployment, a node's labels or the configuration of a program.
    M(psap.perf.apply) would become the owner of what it describes, and would take away next time what it does not
    describe any more.
  - Other fields stay as they are, whoever set them. What is already so is no change.
  - In check mode it says what would change; an object that is not there yet is then taken for one that an earlier
    command is to make.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.query]
options:
  change:
    description:
      - The fields as they are to be. Dictionaries merge by key, null takes a key away, everything else, lists too, is
        replaced.
      - Without O(name) and O(label_selector), of which at most one is given, all objects of the kind have them.
    type: dict
    required: true
  key:
    description:
      - A key of the ConfigMap O(name) in O(namespace) whose text is a YAML dictionary; O(change) is of its values. A
        text that changes is written anew, without its comments. One that is not a YAML dictionary is refused.
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
