# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: watch
short_description: Watch workloads and record their state transitions
version_added: 0.1.0
description:
  - Watches the workloads of one kind in a namespace, their pods and events, and writes every transition with the time
    at which it was seen and the server's own, until a condition holds or time is up.
  - Workloads that ended before the recording began are left out.
  - Fails with exit code 5 when a workload was deleted before its end, with 1 when time was up before the condition
    held, with 130 when the run is stopped. The files in C(artifacts/) are complete in every case.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.metrics]
options:
  namespace:
    description: Where the workloads are.
    type: str
    required: true
  kind:
    description: The workloads' kind.
    type: str
    default: Job
  api_version:
    description: Its API group, whose version the server chooses, or group and version; known kinds need none.
    type: str
  label_selector:
    description: Which workloads and pods, as kubectl's C(-l); all of the namespace if not given.
    type: str
  count:
    description: How many workloads are awaited; V(0) when nobody knows.
    type: int
    default: 0
  until:
    description:
      - V(all_completed) when I(count) workloads (at least one) were seen and none is running any more.
      - Otherwise JMESPath over C(submitted), C(running), C(completed), C(failed), C(lost), C(elapsed_s), for example
        C(completed >= `200`).
    type: str
    default: all_completed
  timeout:
    description: When to end although the condition does not hold, in seconds or like V(10m).
    type: str
    default: 10m
  timeout_fails:
    description: Whether it is a failure that time is up; V(false) records for a fixed time.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Record two hundred Jobs that a user submits
  psap.perf.scale_test.watch:
    namespace: scale
    count: 200
"""

RETURN = r"""
accounting:
  description: What became of the workloads, by number and cause.
  type: dict
  returned: always
ended_by:
  description: C(condition), C(timeout) or C(stop).
  type: str
  returned: always
seconds:
  description: From the start of the recording to its end.
  type: float
  returned: always
"""
