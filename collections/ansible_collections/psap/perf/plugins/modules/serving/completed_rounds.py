# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: completed_rounds
short_description: Count the rounds of loads that earlier attempts completed
version_added: 0.1.0
description:
  - A resumed run continues with the next round. A round is complete when all models have completed it.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.matrix_cell]
options:
  loads:
    description: Number of loads of each model in a round, by flavor.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Count the completed rounds
  psap.perf.serving.completed_rounds:
    cell: "{{ perf_cell }}"
    loads: {m0: 1, m1: 1}
  register: rounds
"""

RETURN = r"""
completed:
  description: Number of completed rounds.
  type: int
  returned: success
"""
