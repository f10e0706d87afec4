# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: kserve_plan
short_description: Plan the concurrent models and loads of the flow kserve
version_added: 0.1.0
description:
  - For the first play of the flow kserve, after M(psap.perf.settings). A concurrent mode has one
    cell, with a lane for each model or user. A model that the runtime does not serve is refused.
author: The psap.perf developers (@openshift-psap)
positional: cells
options:
  _input:
    description: The flow's settings by name, as M(psap.perf.settings) returns them.
    type: dict
    required: true
  cells:
    description: The cells of the matrix, as M(psap.perf.settings) returns them.
    type: list
    elements: dict
    required: true
  forks:
    description: How many tasks Ansible runs concurrently; more lanes are refused, since some would wait for others.
    type: int
    required: true
  users:
    description: Numbers of the users of mode scale that this process runs; all by default.
    type: list
    elements: int
"""

EXAMPLES = r"""
- name: Plan
  ansible.builtin.set_fact:
    perf_plan: >-
      {{ perf_checked.settings | psap.perf.kserve_plan(perf_checked.cells, forks=ansible_forks) }}
"""

RETURN = r"""
_value:
  description:
    - C(cells) of the matrix; C(models), the concurrently served models by their place in the list, C(m0), C(m1) and so
      on; C(lanes), the names of the lanes of each region of the cell; C(rounds), how often all are loaded together,
      C(loads), how many loads of each a round has, and C(round_s), the seconds between starts of rounds; C(namespaces)
      of the models; C(gpus), the maximum of a pod; C(pods), the concurrent pods of each cell, for
      P(psap.perf.nodes_for_cells#filter).
  type: dict
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.serving.catalogue import catalogue
from ansible_collections.psap.perf.plugins.module_utils.serving.plan import kserve_plan
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Plan the concurrent models and loads of the flow kserve."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"kserve_plan": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    settings = args[INPUT]
    known = catalogue(settings["kserve_models"])
    return asdict(kserve_plan(settings, args["cells"], args["forks"], known, args["users"]))
