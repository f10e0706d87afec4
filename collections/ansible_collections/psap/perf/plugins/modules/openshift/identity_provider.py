# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: identity_provider
short_description: Add or remove an identity provider of an OpenShift
version_added: 0.1.0
description:
  - Changes one entry of C(spec.identityProviders) of C(OAuth/cluster). All others keep their content and order, even if
    another user changes them concurrently.
  - An entry of the same name is changed only if it has the same type and, for LDAP, the same URL. Otherwise it belongs
    to another user and is refused.
  - A removal also deletes its identities, and the users who have no other identity.
  - On a cluster that does not serve C(OAuth) it does nothing.
author: The psap.perf developers (@openshift-psap)
options:
  provider:
    description: The entry, as C(oc explain oauths.spec.identityProviders) describes it.
    type: dict
    required: true
  state:
    description: Whether to add or to remove it.
    type: str
    choices: [present, absent]
    default: present
"""

EXAMPLES = r"""
- name: Let users of a directory log in
  psap.perf.openshift.identity_provider:
    provider:
      name: directory
      type: LDAP
      mappingMethod: claim
      ldap:
        url: ldap://directory.example.com/ou=users,dc=example,dc=com?uid
        insecure: true
        attributes: {id: [dn], preferredUsername: [uid]}
"""

RETURN = r"""
"""
