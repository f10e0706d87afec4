# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: load_search
short_description: Choose the next load of a search for the highest load within limits
version_added: 0.1.0
description:
  - Judges the completed loads of a cell by limits, and returns the number of users of the next load. The loads of
    earlier attempts count, so a resumed run continues the search.
  - When the search has ended, writes C(load_search.json) in the directory of the cell. It ends when the number is
    known, when even I(highest) is within the limits, when I(lowest) is not, or after I(most_loads).
  - Judging needs the Python package C(perfanalysis).
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.matrix_cell]
options:
  limits:
    description: Limits by the name of a measure, as the thresholds of M(psap.perf.scale_test.judge).
    type: dict
    required: true
  lowest:
    description: The first number of users.
    type: int
    required: true
  highest:
    description: The largest number of users.
    type: int
    required: true
  most_loads:
    description: The largest number of loads.
    type: int
    required: true
  judged:
    description: RV(judged) of the step before, so that only the new load is judged.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Choose the next number of users
  psap.perf.serving.load_search:
    cell: "{{ perf_cell }}"
    limits: {ttft_p95: 500ms, itl_p95: 50ms}
    lowest: 1
    highest: 64
    most_loads: 8
  register: search
"""

RETURN = r"""
users:
  description: Number of users of the next load; 0 if the search has ended.
  type: int
  returned: success
judged:
  description: The judged loads by their directories.
  type: dict
  returned: success
"""
