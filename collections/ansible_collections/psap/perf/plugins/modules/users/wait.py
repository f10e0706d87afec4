# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: wait
short_description: Wait for users that run in pods, and fetch their artifacts
version_added: 0.1.0
description:
  - Waits until the command of every user has ended or its pod is lost, and fetches the files of each user to
    C(artifacts/user-INDEX) of the command as soon as the user has ended. Then the user's pod ends.
  - Writes C(artifacts/users.json) and C(artifacts/success_count), even if the run is interrupted.
  - Fails if no user succeeded. If the plan needs all users to succeed, it fails if any user did not. If the plan aborts
    on a failure, a failed or lost user stops the others.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.users_job]
options:
  retrieve_artifacts:
    description: Whether to fetch the users' files.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Wait for the users
  psap.perf.users.wait:
    job: notebooks
    namespace: local-ci
"""

RETURN = r"""
success_count:
  description: Number of users that succeeded.
  type: int
  returned: always
users:
  description: The outcome of each user, by its index.
  type: dict
  returned: always
"""
