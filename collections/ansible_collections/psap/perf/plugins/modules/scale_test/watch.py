# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: watch
short_description: Watch workloads and record their state transitions
version_added: 0.1.0
description:
  - Watches the workloads of one kind in a namespace, their pods and events, and writes every transition with the time
    of arrival and the server's time, until a condition holds or the time is up.
  - Workloads that ended before the start of the recording are left out.
  - Fails with exit code 5 if a workload was deleted before its end, with 1 if the time was up before the condition
    held, with 130 if the run is stopped. The files in C(artifacts/) are complete in every case.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.scale_test_watch).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Record the workloads until the condition holds
  psap.perf.scale_test.watch:
"""

RETURN = r"""
accounting:
  description: Results of the workloads, by number and cause.
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
