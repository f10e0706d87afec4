# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: wait
short_description: Wait until hosts of QUADS are delivered
version_added: 0.1.0
description:
  - Hosts are delivered when the assignment is active, provisioned and validated, and every host has a current schedule,
    is in the cloud and, if it was wiped, is validated.
  - The server reports no failures, so that a failed delivery ends with the timeout, which names the missing hosts. It
    changes nothing.
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
  description: Missing hosts, with the reason.
  type: dict
  returned: failure
cloud:
  description: Name of the cloud.
  type: str
  returned: success
lease_end:
  description: Earliest end of the hosts' leases, in UTC.
  type: str
  returned: success
"""
