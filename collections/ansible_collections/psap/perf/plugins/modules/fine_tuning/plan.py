# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: plan
short_description: Plan what the flow fine_tuning downloads and trains
version_added: 0.1.0
description:
  - For the first play of the flow fine_tuning, after C(psap.perf.settings). It looks up models and data sets in the
    sources, names the jobs of each cell, and asks no cluster.
  - Says all that is wrong at once, and names the setting of each. A secret that is missing is refused too.
author: The psap.perf developers
options:
  settings:
    description: The flow's settings by name, as C(psap.perf.settings) returns them.
    type: dict
    required: true
  cells:
    description: The cells of the matrix, as M(psap.perf.settings) returns them.
    type: list
    elements: dict
    required: true
"""

EXAMPLES = r"""
- name: Plan
  psap.perf.fine_tuning.plan:
    settings: "{{ perf_checked.settings }}"
    cells: "{{ perf_checked.cells }}"
  register: perf_plan
"""

RETURN = r"""
downloads:
  description: Models and data sets to fetch, each with C(name), C(source), C(storage_dir), C(creds) and C(image).
  type: list
  elements: dict
  returned: success
cells:
  description: The cells, each with its C(trainings), the jobs by the arguments of their command and their C(phase).
  type: list
  elements: dict
  returned: success
gpus:
  description: The most GPUs that a pod of any job has, 0 when no job trains on GPUs.
  type: int
  returned: success
"""
