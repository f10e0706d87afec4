# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: cell
short_description: Record the result of a matrix cell
version_added: 0.1.0
description:
  - Writes C(cell.json) in the cell's directory at the start and at the end of the cell.
  - Refuses to start the cell if the run was asked to stop.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.matrix_cell]
options:
  state:
    description: New state of the cell.
    type: str
    choices: [begun, ok, failed]
    required: true
  error:
    description: Reason of its failure.
    type: str
"""

EXAMPLES = r"""
- name: Begin the cell
  psap.perf.cell:
    cell: "{{ perf_cell }}"
    state: begun
"""

RETURN = r"""#"""
