# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: wait
short_description: Wait until hosts of QUADS are delivered
version_added: 0.1.0
description:
  - Delivered is when the assignment is active, provisioned and validated, every host has a row that runs, is in the
    cloud, and, if it was wiped, is validated.
  - The server tells no failure, so the wait ends by its timeout, and names the hosts that lag. It changes nothing.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.quads, psap.perf.quads_booking]
options:
  hosts:
    description: Hosts that must be there; those of the booking if empty.
    type: list
    elements: str
    default: []
  timeout:
    description: How long to wait, as V(4h). With the server's own defaults the validation begins after two hours.
    type: str
    default: 4h
  interval:
    description: Time between two looks.
    type: str
    default: 60s
  warn_before:
    description: A warning is given when the lease ends within this time.
    type: str
    default: 6h
"""

EXAMPLES = r"""
- name: Wait for the hosts
  psap.perf.quads.wait:
    timeout: 4h
"""

RETURN = r"""
hosts:
  description: Names of the hosts.
  type: list
  elements: str
  returned: success
laggards:
  description: Hosts that are not there, and what they lack.
  type: dict
  returned: failure
cloud:
  description: Name of the cloud.
  type: str
  returned: success
lease_end:
  description: When the first host's time ends, in UTC.
  type: str
  returned: success
"""
