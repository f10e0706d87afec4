# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: guidellm
short_description: Run guidellm on this machine, or fetch its results from the pod of a Job
version_added: 0.1.0
description:
  - Keeps the results for the analysis (C(results/benchmarks.json), C(guidellm.json)) below C(artifacts/) of the
    command. A program on this machine also has its output there (C(run.log)); it is stopped on timeout and when the run
    is interrupted.
  - Results in a pod are fetched by exec, in pieces. The API's key is replaced in them.
  - It does not change the cluster.
  - Its arguments are its command's, see C(ansible-doc --type role psap.perf.llm_d_run_guidellm_benchmark).
author: The psap.perf developers (@openshift-psap)
options:
  rates:
    description: The rates of this run of the program.
    type: list
    elements: float
    default: []
  folder:
    description: The folder below C(artifacts/) for the results; empty for C(artifacts/) itself.
    type: str
    default: ""
  pod_selector:
    description: The label of the Job's pod, whose container C(results) has them; empty to run the program here.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Fetch the results
  psap.perf.serving.guidellm:
    pod_selector: psap.perf/guidellm=guidellm-benchmark
"""

RETURN = r"""
requests:
  description: Number of requests that completed or failed.
  type: int
  returned: success
requests_failed:
  description: How many of them failed.
  type: int
  returned: success
"""
