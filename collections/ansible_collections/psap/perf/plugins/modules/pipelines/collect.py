# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: collect
short_description: Collect the runs of all users of pipelines
version_added: 0.1.0
description:
  - Writes C(pipelines.json) in the directory of a cell, with the runs from the documents of the cell's commands. Runs
    that a user did not request count as failed.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.matrix_cell]
options:
  projects:
    description: The project of each user.
    type: list
    elements: str
    required: true
  runs_per_user:
    description: Number of runs that each user should request.
    type: int
    required: true
"""

EXAMPLES = r"""
- name: Collect the runs of two users
  psap.perf.pipelines.collect:
    cell: "{{ perf_cell }}"
    projects: [pipelines-n0, pipelines-n1]
    runs_per_user: 3
"""

RETURN = r"""
runs:
  description: Number of runs.
  type: int
  returned: success
failures:
  description: Which runs failed, and why; empty if no run failed.
  type: str
  returned: success
"""
