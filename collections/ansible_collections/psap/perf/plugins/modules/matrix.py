# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: matrix
short_description: List the cells of a flow's test matrix
version_added: 0.1.0
description:
  - A cell is one combination of the values of the settings that are declared with C(dimension), minus those that the
    setting C(matrix_skip_if) leaves out; C(matrix_experiments) makes several products, one after the other.
  - The variable C(perf_cells), a list of indices, restricts them; the driver resumes and parallelizes so.
author: The psap.perf developers
options:
  flow:
    description: The flow whose settings span the matrix.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: List the cells
  psap.perf.matrix:
    flow: scale_test
  register: __scale_test_matrix
"""

RETURN = r"""
cells:
  description: Cells to run, each with C(index), C(name) and C(values).
  type: list
  elements: dict
  returned: success
"""
