# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: rounds
short_description: Find the rounds of loads that earlier attempts have finished
version_added: 0.1.0
description:
  - A run that is resumed goes on with the round after them. A round is finished when all of its models are.
author: The psap.perf developers (@openshift-psap)
extends_documentation_fragment: [psap.perf.matrix_cell]
options:
  loads:
    description: How many loads of each model a round has, by their flavor.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Find what an earlier attempt has finished
  psap.perf.serving.rounds:
    cell: "{{ perf_cell }}"
    loads: {m0: 1, m1: 1}
  register: rounds
"""

RETURN = r"""
finished:
  description: The number of rounds that are finished.
  type: int
  returned: success
"""
