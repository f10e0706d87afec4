# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: start
short_description: Start users that run in pods together
version_added: 0.1.0
description:
  - Waits until the pods of all users are ready or lost, but no longer than the plan allows, and sets the instant at
    which they start. Lost users do not delay the others; late users start when they are ready.
  - Fails if no user is ready. If the users have already started, it changes nothing.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.users_job]
"""

EXAMPLES = r"""
- name: Start the users together
  psap.perf.users.start:
    job: notebooks
    namespace: local-ci
"""

RETURN = r"""
go_at_s:
  description: The instant of the start, in seconds since the epoch by the clock of the cluster.
  type: float
  returned: success
lost:
  description: The cause of each user that was lost before the start, by its index.
  type: dict
  returned: success
late:
  description: The indices of the users that were not ready in time.
  type: list
  elements: int
  returned: success
"""
