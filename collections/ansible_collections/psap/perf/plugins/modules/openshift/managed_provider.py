# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: managed_provider
short_description: Add or remove an LDAP identity provider of a managed OpenShift
version_added: 0.1.0
description:
  - Changes it in OpenShift Cluster Manager (OCM), which writes it to the cluster, for ROSA and OpenShift Dedicated. It
    does not need the programs C(ocm) and C(rosa). All other providers stay unchanged.
  - A provider of the same name is changed only if it has the same URL. Otherwise it belongs to another user and is
    refused. OCM does not return passwords, so a provider that differs only in its password stays unchanged.
  - A removal also deletes its identities in the cluster, and the users who have no other identity.
  - In check mode it reports whether it would change anything.
author: The psap.perf developers (@openshift-psap)
options:
  cluster:
    description: Name of the cluster in OCM.
    type: str
    required: true
  provider:
    description: The entry, as C(oc explain oauths.spec.identityProviders) describes it; its C(bindPassword) is ignored.
    type: dict
    required: true
  bind_password:
    description: A reference to the password for reading the directory. Required with V(present).
    type: str
    default: ""
  state:
    description: Whether to add or to remove it.
    type: str
    choices: [present, absent]
    default: present
  token:
    description: A reference to the user's offline token of OCM, such as V(file:ocm-token).
    type: str
    required: true
  url:
    description: Address of OCM.
    type: str
    default: https://api.openshift.com
  sso_url:
    description: Address that issues access tokens to OCM's users.
    type: str
    default: https://sso.redhat.com/auth/realms/redhat-external/protocol/openid-connect/token
"""

EXAMPLES = r"""
- name: Let users of a directory log in to a managed cluster
  psap.perf.openshift.managed_provider:
    cluster: perf-1
    provider:
      name: directory
      type: LDAP
      mappingMethod: claim
      ldap:
        url: ldap://directory.example.com/ou=users,dc=example,dc=com?uid
        insecure: true
        bindDN: cn=admin,dc=example,dc=com
        attributes: {id: [dn], preferredUsername: [uid]}
    bind_password: file:directory
    token: file:ocm-token
"""

RETURN = r"""
"""
