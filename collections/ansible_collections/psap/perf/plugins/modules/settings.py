# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: settings
short_description: Check and record all settings before anything changes
version_added: 0.1.0
description:
  - The first task of every flow and of every single command, tagged C(always).
  - Refuses undeclared names in presets, group_vars, the site, host_vars and the command line; values of the wrong type
    or outside the choices; secrets in plain text or missing; values that violate a rule together. It reports all
    problems together, each with its file and line.
  - Writes C(settings.yml) in the run's directory, every value with its origin.
  - Lists the cells of the flow's test matrix. A cell is one combination of the values of the settings that are declared
    with C(dimension), without those that the setting C(matrix_skip_if) skips; C(matrix_experiments) defines several
    products, one after the other. The variable C(perf_cells), a list of indices, restricts them; the driver uses it to
    resume and parallelize.
author: The psap.perf developers (@openshift-psap)
options:
  flow:
    description: The flow whose settings are checked and recorded.
    type: str
  command:
    description: The role of the single command whose arguments are recorded, instead of O(flow).
    type: str
"""

EXAMPLES = r"""
- name: Check the settings
  psap.perf.settings:
    flow: scale_test
  register: perf_checked
"""

RETURN = r"""
settings:
  description: The values by name, templates rendered; a dimension that varies is a list.
  type: dict
  returned: success
presets:
  description: The presets that were applied, in order.
  type: list
  elements: str
  returned: success
cells:
  description: The cells of the flow to run, each with C(index), C(name) and C(values).
  type: list
  elements: dict
  returned: success
role:
  description: The name of the role of O(command), with its collection; a role of the project has none.
  type: str
  returned: when O(command) is set
"""
