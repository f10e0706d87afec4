# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: admin_user
short_description: Add or remove a user of OpenShift who logs in by a password and administers the cluster
version_added: 0.1.0
description:
  - Puts a line with a hash by bcrypt into the Secret of the identity provider C(htpasswd), adds this provider to the
    OAuth of the cluster if it is not there, and binds the cluster role C(cluster-admin) to the user. Providers, lines
    and users of others stay as they are.
  - What was added is noted on the Secret, so that V(absent) takes away only that; the provider goes with its last user.
  - In check mode it says whether it would change.
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
