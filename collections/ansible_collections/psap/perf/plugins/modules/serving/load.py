# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: load
short_description: Run a load generator on this machine, or record the results of a Job
version_added: 0.1.0
description:
  - Writes the generator's configuration, runs it, and keeps its results for the analysis below C(artifacts/) of the
    command, with its output (C(run.log)).
  - The program is stopped on timeout and when the run is interrupted. It does not change the cluster.
  - Its arguments are its command's, see C(ansible-doc --type role psap.perf.serving_run_load).
author: The psap.perf developers (@openshift-psap)
options:
  ran_in_job:
    description: Do not run the program. A Job ran it, and its results were fetched from its pod.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Run the load generator
  psap.perf.serving.load:
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
