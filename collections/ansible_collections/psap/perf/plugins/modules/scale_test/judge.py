# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: judge
short_description: Judge recordings against thresholds
version_added: 0.1.0
description:
  - Computes measures of a recording with the Python package C(perfanalysis), compares them with limits, and writes
    C(artifacts/verdict.json) and C(artifacts/junit.xml) of the command.
  - Fails with exit code 4 if a threshold was missed, with 5 if workloads were lost or are not accounted for, with 6 if
    a measure has too few values to be judged.
  - Without I(recording) it only checks the thresholds, so that an unknown name is refused before the test; this also
    works outside of a command.
author: The psap.perf developers (@openshift-psap)
options:
  thresholds:
    description:
      - Limits by the name of a measure, such as C(time_to_ready_p99), C(lost) or C(submission_rate). The command
        C(perfanalysis measures) lists them with their units.
      - A limit is a number, or a text with a unit, such as V(5s), V(20/s), V(99%). Whether less or more is better
        follows from the measure; an operator before the limit overrides it, such as V(>= 20/s).
    type: dict
    required: true
  recording:
    description: A run directory, or a directory in one, that holds the recordings to judge.
    type: path
  workloads:
    description:
      - Smallest number of workloads of a test. A percentile that needs more is refused, unless I(allow_unjudged).
    type: int
  allow_unjudged:
    description: Whether a measure with too few values to be judged is not a failure.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Refuse wrong thresholds before the test
  psap.perf.scale_test.judge:
    thresholds: "{{ scale_test_thresholds }}"

- name: Judge the cell
  psap.perf.scale_test.judge:
    thresholds:
      time_to_ready_p99: 5s
      lost: 0
      submission_rate: ">= 20/s"
    recording: "{{ scale_test_judge_recording }}"
"""

RETURN = r"""
verdict:
  description: The document C(verdict.json).
  type: dict
  returned: when recordings were judged
file:
  description: The document's path.
  type: str
  returned: when recordings were judged
"""
