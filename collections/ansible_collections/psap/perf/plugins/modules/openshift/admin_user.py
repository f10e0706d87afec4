# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: admin_user
short_description: Add or remove an administrator of OpenShift who logs in with a password
version_added: 0.1.0
description:
  - Adds a line with a bcrypt hash to the Secret of the identity provider C(htpasswd), adds this provider to the OAuth
    of the cluster if it is missing, and binds the cluster role C(cluster-admin) to the user. Other providers, lines and
    users stay unchanged.
  - An annotation of the Secret lists the added users, so that V(absent) removes only these. The provider is removed
    with its last user.
  - In check mode it reports whether it would change anything.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.cluster_create_htpasswd_adminuser).
author: The psap.perf developers (@openshift-psap)
requirements: [bcrypt]
"""

EXAMPLES = r"""
- name: Add an administrator
  psap.perf.openshift.admin_user:
"""

RETURN = r"""
"""
