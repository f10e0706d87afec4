# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: run_notebook
short_description: Run a notebook that creates runs of a pipeline
version_added: 0.1.0
description:
  - Executes the notebook in its pod, and copies its output and the files that it writes to C(artifacts/notebook/). One
    of these files can be C(runs.json), with the time and ID of each run.
  - If the notebook fails, C(pipelines.json) has the runs with the reason.
  - Other arguments are those of its command, see C(ansible-doc --type role psap.perf.pipelines_run_kfp_notebook).
author: The psap.perf developers (@openshift-psap)
options:
  runs:
    description: Names of the runs to create.
    type: list
    elements: str
    required: true
  program:
    description: Path in the pod of the program that executes notebooks.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Run the notebook
  psap.perf.pipelines.run_notebook:
    runs: [user0-p0-run1]
    program: /opt/notebook/execute.py
  register: __pipelines_run_kfp_notebook_ran
"""

RETURN = r"""
submitted:
  description: The contents of C(runs.json); empty if the notebook does not write it.
  type: list
  elements: dict
  returned: success
"""
