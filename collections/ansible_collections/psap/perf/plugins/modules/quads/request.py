# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: request
short_description: Book hosts of QUADS
version_added: 0.1.0
description:
  - Asks for an assignment and adds hosts to it one by one, each looked for before it is asked again and read back
    after it was made. What the run has booked already is found by its mark.
  - A booking that cannot be had as asked for is released again, one whose lease is too short too.
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
  description: Hosts that were refused, with the server's word.
  type: dict
  returned: success
lease_end:
  description: When the first host's time ends, in UTC.
  type: str
  returned: success
lease_left_s:
  description: Seconds until then.
  type: int
  returned: success
run_facts:
  description: What C(run.json) says of the booking.
  type: dict
  returned: success
"""
