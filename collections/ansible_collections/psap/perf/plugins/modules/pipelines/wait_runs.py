# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: wait_runs
short_description: Wait until runs of pipelines have ended
version_added: 0.1.0
description:
  - Waits for the Argo Workflows of the runs, and finds them by the exact names of the runs. Workflows of other users in
    the namespace are ignored.
  - Writes C(pipelines.json) with the times, steps and phase of each run, regardless of the result. Fails if the phase
    of a run is Failed or Error, after the other runs have ended.
  - Other arguments are those of its command, see C(ansible-doc --type role psap.perf.pipelines_run_kfp_notebook).
author: The psap.perf developers (@openshift-psap)
options:
  runs:
    description: Names of the runs.
    type: list
    elements: str
    required: true
  submitted:
    description: The runs that the notebook recorded, as M(psap.perf.pipelines.run_notebook) returns them.
    type: list
    elements: dict
    default: []
"""

EXAMPLES = r"""
- name: Wait until the runs have ended
  psap.perf.pipelines.wait_runs:
    runs: [user0-p0-run1]
"""

RETURN = r"""
runs:
  description: Number of runs.
  type: int
  returned: success
"""
