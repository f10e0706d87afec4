# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: check_load
short_description: Validate the load that a scale test's settings describe
version_added: 0.1.0
description:
  - For the first play of the flow scale_test, after C(psap.perf.settings). It reads the trace and renders a workload of
    each kind, without a cluster.
  - The message lists all errors, each with its setting.
author: The psap.perf developers (@openshift-psap)
options:
  settings:
    description: The flow's settings by name, as C(psap.perf.settings) returns them.
    type: dict
    required: true
  cells:
    description: The cells of the matrix, as M(psap.perf.settings) returns them; all are checked.
    type: list
    elements: dict
    required: true
"""

EXAMPLES = r"""
- name: Refuse an invalid load
  psap.perf.scale_test.check_load:
    settings: "{{ __scale_test_checked.settings }}"
    cells: "{{ __scale_test_cells.cells }}"
"""

RETURN = r"""
workloads:
  description: Smallest number of workloads of a cell, including those of churn.
  type: int
  returned: success
pods:
  description:
    - The concurrent pods of each cell, in the format of P(psap.perf.nodes_for_cells#filter).
  type: list
  elements: list
  returned: success
"""
