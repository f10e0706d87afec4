# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: log_in
short_description: Wait until a user can log in to an OpenShift with a password
version_added: 0.1.0
description:
  - Logs in as C(oc login) does until it succeeds. The OAuth server restarts with a new provider, which takes minutes.
    The token is not stored.
  - In check mode it does nothing.
  - Its other arguments are those of its command, see C(ansible-doc --type role psap.perf.server_deploy_ldap).
author: The psap.perf developers (@openshift-psap)
options:
  user:
    description: Name of the user.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Wait until the first user can log in
  psap.perf.openshift.log_in:
    user: user0
"""

RETURN = r"""
"""
