# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: llm_load_test
short_description: Run llm-load-test on this machine, or record the results of a Job
version_added: 0.1.0
description:
  - Writes the configuration, runs the program in its checkout, and keeps its results for the analysis
    (C(artifacts/output/output.json), C(artifacts/llm_load_test.json)) and its output (C(artifacts/run.log)).
  - The program is stopped on timeout and when the run is interrupted. It does not change the cluster.
  - Its arguments are its command's, see C(ansible-doc --type role psap.perf.llm_load_test_run).
author: The psap.perf developers (@openshift-psap)
options:
  ran_in_job:
    description: Do not run the program. A Job ran it, and C(artifacts/output/output.json) was fetched from its pod.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Run the load test
  psap.perf.serving.llm_load_test:
"""

RETURN = r"""
requests:
  description: Number of requests.
  type: int
  returned: success
requests_failed:
  description: How many of them failed.
  type: int
  returned: success
"""
