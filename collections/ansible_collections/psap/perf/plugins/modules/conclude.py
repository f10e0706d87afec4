# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: conclude
short_description: Conclude the run and report its first error
version_added: 0.1.0
description:
  - The last task of every flow. Raises the first failure of the run, with its directory and the number of further
    failures; finalizers and cells defer their failures to it.
  - Fails a run whose first attempt opens no command, for example because tags select nothing.
  - Searches the run directory for every secret that the run used, and its base64; a hit fails the run.
author: The psap.perf developers (@openshift-psap)
options:
  expect_commands:
    description: Whether a first attempt without any command is a failure.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Conclude the run and report its first error
  psap.perf.conclude:
"""

RETURN = r"""
commands:
  description: How many commands opened in this attempt.
  type: int
  returned: success
"""
