# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: submit
short_description: Submit many workloads and record their state transitions
version_added: 0.1.0
description:
  - Renders a template into workloads and submits them, from one process or several. Its recorder is in sync with the
    cluster before the first submission, and ends after the last workload.
  - Accounts for every workload. Fails with exit code 5 if one was lost or the accounts disagree, with 130 if the run is
    stopped, and with 1 if the time is up or more workloads failed than allowed. The files in C(artifacts/) of the
    command are complete in every case; after a kill, they are readable up to that moment.
  - Retries after a lost response, a 429, a 5xx and a broken connection. Names follow from the run and the index, so
    that no workload is submitted twice.
  - Its arguments are those of its command, see C(ansible-doc --type role psap.perf.scale_test_submit).
author: The psap.perf developers (@openshift-psap)
"""

EXAMPLES = r"""
- name: Submit the workloads and record them until they finish
  psap.perf.scale_test.submit:
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
