# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: tokens
short_description: Give each user in a pod a token of a dedicated service account
version_added: 0.1.0
description:
  - Requests a token of the service account SERVICE_ACCOUNT-INDEX for each user, stores the tokens in the Secret
    JOB-tokens, and starts the Job, which is suspended. A pod mounts only the key of its user.
  - The tokens are only sent to the server. They are valid until the Job is deleted.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.users_job]
options:
  service_account:
    description: Prefix of the names of the users' service accounts; a hyphen and the index follow.
    type: str
    required: true
  lasts_s:
    description: How long the tokens are valid, in whole seconds.
    type: int
    required: true
"""

EXAMPLES = r"""
- name: Give each user a token of its service account
  psap.perf.users.tokens:
    job: notebooks
    namespace: local-ci
    service_account: local-ci
    lasts_s: 7200
"""

RETURN = r"""
secret:
  description: Name of the Secret.
  type: str
  returned: success
"""
