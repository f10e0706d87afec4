# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: find
short_description: Choose hosts of QUADS
version_added: 0.1.0
description:
  - Chooses among the hosts that are free for the time, and says of every other host why not. It changes nothing.
  - Of the hosts that fit, those of the commonest model come first.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.quads]
options:
  mark:
    description: Name of the run's booking; if it is booked already, its hosts are chosen again.
    type: str
    default: cluster
  count:
    description: How many hosts; V(0) is as many as there are.
    type: int
    default: 1
  at_least:
    description: How many at least; fewer are an error. V(0) is all of O(count), or one where that is V(0).
    type: int
    default: 0
  models:
    description: Models, any of which will do.
    type: list
    elements: str
    default: []
  hosts:
    description: Names of hosts, or patterns such as V(*-r640.*); no others are chosen then.
    type: list
    elements: str
    default: []
  exclude:
    description: Names or patterns of hosts that are not chosen.
    type: list
    elements: str
    default: []
  disks:
    description: Disks that a host has, all of these.
    type: list
    elements: dict
    default: []
    suboptions:
      type:
        description: A part of their type, such as V(nvme).
        type: str
      size_gb:
        description: Size of each at least, in GB.
        type: int
      count:
        description: How many at least.
        type: int
  nics:
    description: Network interfaces that a host has, all of these.
    type: list
    elements: dict
    default: []
    suboptions:
      vendor:
        description: A part of the vendor's name.
        type: str
      gigabits:
        description: Speed at least, in Gbit/s.
        type: float
      driver:
        description: Driver in Linux, by a table of vendors and speeds, since QUADS stores none.
        type: str
      count:
        description: How many at least.
        type: int
  memory_gb:
    description: Memory at least, in GB.
    type: int
    default: 0
  cores:
    description: Cores of all processors at least.
    type: int
    default: 0
  threads:
    description: Threads of all processors at least.
    type: int
    default: 0
  processor:
    description: A part of a processor's vendor and name.
    type: str
    default: ""
  gpus:
    description: GPUs at least, where the lab's data names them.
    type: int
    default: 0
  labels:
    description: Labels such as V(disk_nvme), which stand for wishes; docs/quads.md lists them.
    type: list
    elements: str
    default: []
  more_labels:
    description: Further labels of a lab, each with the options that it stands for.
    type: dict
    default: {}
  start:
    description: From when on a host must be free, as V(2026-11-29T20:00) of the server's clock; now if empty.
    type: str
    default: ""
  free_for:
    description: How long it must be free from then on, as V(48h).
    type: str
    default: 5d
"""

EXAMPLES = r"""
- name: Choose four hosts with NVMe disks
  psap.perf.quads.find:
    url: https://quads.example.com
    count: 4
    labels: [disk_nvme]
"""

RETURN = r"""
hosts:
  description: Names of the chosen hosts.
  type: list
  elements: str
  returned: success
substitutes:
  description: Names of hosts that fit as well.
  type: list
  elements: str
  returned: success
refused:
  description: Every other host, and why not.
  type: dict
  returned: always
booked:
  description: Whether they are those that the run has booked already.
  type: bool
  returned: success
server:
  description: C(kind), which is OLD, SSM-early or SSM, and C(version).
  type: dict
  returned: success
"""
