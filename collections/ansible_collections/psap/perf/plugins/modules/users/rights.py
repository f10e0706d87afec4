# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: rights
short_description: Return the roles that grant service accounts the rights of rules
version_added: 0.1.0
description:
  - Returns a Role and a RoleBinding for each namespace of the rules, and a ClusterRole and a ClusterRoleBinding for
    kinds without a namespace and rules without namespaces. They grant the rights of the rules, and no others.
  - With O(user_rights), also returns a service account SERVICE_ACCOUNT-INDEX for each user.
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
  user_rights:
    description:
      - Rules without namespaces. Each of O(user_count) users gets their rights in its namespace, which is
        O(user_namespace_prefix) and the index, with a dedicated service account. These accounts also have O(rights).
    type: list
    elements: dict
    default: []
  user_count:
    description: Number of users.
    type: int
    default: 1
  user_namespace_prefix:
    description: Prefix of the users' namespaces; required with O(user_rights).
    type: str
    default: ""
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
  description: The service accounts of users, the roles and their bindings.
  type: list
  elements: dict
  returned: success
namespaces:
  description: The namespaces of the users; none without O(user_rights).
  type: list
  elements: str
  returned: success
"""
