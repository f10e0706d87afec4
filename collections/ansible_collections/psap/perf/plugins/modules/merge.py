# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: merge
short_description: Patch fields of an existing object
version_added: 0.1.0
description:
  - For objects that others made, such as an operator's Deployment or a MachineSet. M(psap.perf.apply) would become the
    owner of what it describes, and would take away next time what it does not describe any more.
  - What is already so is no change. In check mode it says what would change; an object that is not there yet is then
    taken for one that an earlier command is to make.
author: The psap.perf developers (@openshift-psap)
options:
  kind:
    description: The object's kind.
    type: str
    required: true
  api_version:
    description: Its API group and version; to be given if it is none of the known kinds.
    type: str
  name:
    description: Its name.
    type: str
    required: true
  namespace:
    description: Where it lives; leave it out for kinds outside namespaces.
    type: str
  change:
    description:
      - The fields as they are to be. Dictionaries merge by key, null takes a key away, everything else, lists too, is
        replaced.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Stop the operator
  psap.perf.merge:
    kind: Deployment
    name: rhods-operator
    namespace: redhat-ods-operator
    change: {spec: {replicas: 0}}
"""

RETURN = r"""
object:
  description: The object as it then is; in check mode of an object that is not there, the change.
  type: dict
  returned: success
"""
