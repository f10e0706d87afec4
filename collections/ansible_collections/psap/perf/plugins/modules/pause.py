# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: pause
short_description: Pause until a point in time
version_added: 0.1.0
description:
  - Ends when the time has passed, or immediately if it already has. It fails as soon as the run is asked to stop. Each
    lane pauses separately.
author: The psap.perf developers (@openshift-psap)
options:
  duration:
    description: Duration, in seconds or like V(90s).
    type: str
    required: true
  since:
    description: Start of the duration, in UTC, as other verbs return it; by default now.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Continue ten seconds after the start of the test
  psap.perf.pause:
    since: "{{ begun.at }}"
    duration: 10s
"""

RETURN = r"""
late_s:
  description: By how many seconds it ended too late.
  type: float
  returned: success
"""
