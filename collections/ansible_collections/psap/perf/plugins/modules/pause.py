# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: pause
short_description: Let time pass until a moment
version_added: 0.1.0
description:
  - Ends when so much time has passed, or at once when that was before. It fails as soon as the run is asked to stop,
    and lanes pause each for itself.
author: The psap.perf developers (@openshift-psap)
options:
  duration:
    description: How long, in seconds or as a duration such as V(90s).
    type: str
    required: true
  since:
    description: From when on, in UTC, as other verbs return it; now if not given.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Begin ten seconds after the test began
  psap.perf.pause:
    since: "{{ begun.at }}"
    duration: 10s
"""

RETURN = r"""
late_s:
  description: By how many seconds it ended later than asked for.
  type: float
  returned: success
"""
