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
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.quads, psap.perf.quads_booking]
options:
  hosts:
    description: Names of hosts; the first O(count) are wanted, the others are substitutes.
    type: list
    elements: str
    required: true
  count:
    description: How many hosts; V(0) is all of O(hosts).
    type: int
    default: 0
  at_least:
    description: How many at least; fewer are released again. V(0) is all that are asked for.
    type: int
    default: 0
  clouds:
    description:
      - Over how many clouds the hosts are split evenly, for more than one may have; each is a network of its own.
    type: int
    default: 1
  partial:
    description:
      - What becomes of it when hosts are refused. V(substitute) asks for the next ones; V(accept) stays with what
        there is, if it is enough; V(release) wants all or none.
    type: str
    choices: [substitute, accept, release]
    default: substitute
  description:
    description: What the hosts are for; the mark follows it.
    type: str
    default: performance test
  ticket:
    description: Number of the ticket; a server that opens tickets itself needs none.
    type: str
    default: ""
  wipe:
    description: Whether the hosts are installed anew and tested; without it nothing of them is tested.
    type: bool
    default: true
  qinq:
    description: V(0) for a VLAN for each interface number, V(1) for one for all.
    type: int
    default: 0
  cc_users:
    description: Further people who are written to.
    type: list
    elements: str
    default: []
  vlan:
    description: Number of a public VLAN; V(0) for none.
    type: int
    default: 0
  cloud:
    description: Name of the cloud; any if empty.
    type: str
    default: ""
  ostype:
    description: Operating system that is installed, where the server lets one choose.
    type: str
    default: ""
  boot_order:
    description: Boot order, where the server lets one choose.
    type: str
    default: ""
  lease_at_least:
    description: A shorter lease is released again, in seconds or as V(24h).
    type: str
    default: 24h
  lease_at_most:
    description: The lease that is asked for where one can ask, which is on servers without self-scheduling.
    type: str
    default: 48h
  warn_before:
    description: How long before the end of the lease a run warns of it.
    type: str
    default: 6h
  stop_before:
    description:
      - How long before the end of the lease a run stops, so that its finalizers have this time; V(0) for not at all.
    type: str
    default: 1h
"""

EXAMPLES = r"""
- name: Book them
  psap.perf.quads.request:
    url: https://quads.example.com
    user: jane@example.com
    password: file:quads
    hosts: "{{ found.hosts + found.substitutes }}"
    count: 4
    ticket: PERF-1
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
