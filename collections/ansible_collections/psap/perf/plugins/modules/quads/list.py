# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: list
short_description: List assignments of QUADS
version_added: 0.1.0
description:
  - Lists active assignments with their hosts and ends. It changes nothing, and needs no login.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.quads]
options:
  owner:
    description: Name of the owner, which is the part of the email address before the @; everybody's if empty.
    type: str
    default: ""
  utc_offset:
    description: How far the server's clock is from UTC, as V(-05:00); without it the ends are as if it were UTC.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: List mine
  psap.perf.quads.list:
    url: https://quads.example.com
    owner: jane
"""

RETURN = r"""
assignments:
  description: Each with its C(cloud), C(hosts), C(description), flags and C(lease_end).
  type: list
  elements: dict
  returned: success
free_clouds:
  description: Clouds that have no assignment.
  type: list
  elements: str
  returned: success
"""
