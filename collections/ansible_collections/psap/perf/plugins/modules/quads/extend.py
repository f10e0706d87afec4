# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: extend
short_description: Extend the lease of hosts of QUADS
version_added: 0.1.0
description:
  - Sets the end of every host's row, which only an administrator's account may. A tenant is told the end, and that
    the lab must be asked.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.quads_extend_assignment).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Have a day more
  psap.perf.quads.extend:
"""

RETURN = r"""
lease_end:
  description: When the first host's time ends, in UTC.
  type: str
  returned: success
hosts:
  description: Hosts whose time was extended.
  type: list
  elements: str
  returned: success
"""
