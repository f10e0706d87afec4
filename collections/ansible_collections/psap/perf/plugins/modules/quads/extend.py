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
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.quads, psap.perf.quads_booking]
options:
  lasting:
    description: How long from now on the lease is to last at least, as V(24h); a longer one stays.
    type: str
    required: true
  owner:
    description:
      - Owner of the booking, the part of an email address before the @, if it is not the account's own. An
        administrator extends the booking of another user so.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Have a day more
  psap.perf.quads.extend:
    lasting: 24h
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
