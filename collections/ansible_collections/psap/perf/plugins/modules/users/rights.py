# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: rights
short_description: Return the roles that grant a service account the rights of rules
version_added: 0.1.0
description:
  - Returns a Role and a RoleBinding for each namespace of the rules, and a ClusterRole and a ClusterRoleBinding for
    kinds without a namespace and rules without namespaces. They grant the rights of the rules, and no others.
author: The psap.perf developers (@openshift-psap)
options:
  namespace:
    description: Namespace of the service account.
    type: str
    required: true
  service_account:
    description: Name of the service account.
    type: str
    required: true
  rights:
    description: Rules in the format of a flow's C(rights.yml), such as C({role, namespaces}) or C({kinds, verbs}).
    type: list
    elements: dict
    required: true
"""

EXAMPLES = r"""
- name: Determine the rights of the users
  psap.perf.users.rights:
    namespace: local-ci
    service_account: local-ci
    rights:
      - {role: kserve_deploy_model, namespaces: [kserve-u0, kserve-u1]}
  register: granted
"""

RETURN = r"""
manifests:
  description: The roles and their bindings.
  type: list
  elements: dict
  returned: success
"""
