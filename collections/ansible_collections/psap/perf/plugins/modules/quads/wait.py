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
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.quads_wait_assignment).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Wait for the hosts
  psap.perf.quads.wait:
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
