# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: release
short_description: Release hosts of QUADS
version_added: 0.1.0
description:
  - Ends every active assignment that has the mark and the owner, and no other one. Where there is none it changes
    nothing.
  - A booking of this run is noted before its first call; where none is noted, no server is asked.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.quads, psap.perf.quads_booking]
options:
  unfinished:
    description: Release only the bookings that this run began and did not complete, whatever their marks.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Release the run's hosts
  psap.perf.quads.release:
"""

RETURN = r"""
released:
  description: The assignments that were ended, with C(cloud) and C(assignment).
  type: list
  elements: dict
  returned: success
"""
