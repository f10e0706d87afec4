# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: request
short_description: Book hosts of QUADS
version_added: 0.1.0
description:
  - Requests an assignment and adds hosts one by one. Before each retry, it checks whether the host was already added;
    after each addition, it reads the result. It finds an existing booking of the run by its mark.
  - If the booking cannot be completed as requested, or its lease is too short, it is released.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.quads_request_assignment).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Book them
  psap.perf.quads.request:
"""

RETURN = r"""
mark:
  description: The mark, with the run's ID.
  type: str
  returned: success
assignment:
  description: Its number.
  type: int
  returned: success
cloud:
  description: Name of the cloud.
  type: str
  returned: success
clouds:
  description: Each cloud with its assignment, hosts and lease.
  type: list
  elements: dict
  returned: success
hosts:
  description: Names of the hosts that were booked.
  type: list
  elements: str
  returned: success
refused:
  description: Refused hosts, with the server's reason.
  type: dict
  returned: success
lease_end:
  description: Earliest end of the hosts' leases, in UTC.
  type: str
  returned: success
lease_left_s:
  description: Seconds until then.
  type: int
  returned: success
run_facts:
  description: Fields of C(run.json) about the booking.
  type: dict
  returned: success
"""
