# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: find
short_description: Choose hosts of QUADS
version_added: 0.1.0
description:
  - Chooses among the hosts that are free for the time, and returns the reason against every other host. It changes
    nothing.
  - Of the matching hosts, those of the most common model come first.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.quads_find_hosts).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Choose four hosts with NVMe disks
  psap.perf.quads.find:
"""

RETURN = r"""
hosts:
  description: Names of the chosen hosts.
  type: list
  elements: str
  returned: success
substitutes:
  description: Names of the other matching hosts.
  type: list
  elements: str
  returned: success
refused:
  description: Every other host, with the reason.
  type: dict
  returned: always
booked:
  description: The run has already booked these hosts.
  type: bool
  returned: success
server:
  description: C(kind), which is OLD, SSM-early or SSM, and C(version).
  type: dict
  returned: success
"""
