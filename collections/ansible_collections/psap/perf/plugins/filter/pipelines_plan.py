# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: pipelines_plan
short_description: Plan the users and projects of the flow pipelines
version_added: 0.1.0
description:
  - For the first play of the flow pipelines, after M(psap.perf.settings). Each user is a lane, and
    user I(i) has the project I(i) modulo the number of projects.
author: The psap.perf developers (@openshift-psap)
positional: cells
options:
  _input:
    description: The flow's settings by name, as M(psap.perf.settings) returns them.
    type: dict
    required: true
  cells:
    description: The cells of the matrix, as M(psap.perf.settings) returns them; more than one is refused.
    type: list
    elements: dict
    required: true
  forks:
    description: How many tasks Ansible runs concurrently; more users are refused, since some would wait for others.
    type: int
    required: true
"""

EXAMPLES = r"""
- name: Plan
  ansible.builtin.set_fact:
    perf_plan: >-
      {{ perf_checked.settings | psap.perf.pipelines_plan(perf_checked.cells, forks=ansible_forks) }}
"""

RETURN = r"""
_value:
  description:
    - C(lanes), the names of the lanes of each region of the cell; C(namespaces), the projects; C(projects), the project
      of each user, by its lane; C(runs_per_user), the number of runs that each user requests.
  type: dict
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.pipelines.lanes import pipelines_plan
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Plan the users and projects of the flow pipelines."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"pipelines_plan": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    return asdict(pipelines_plan(args[INPUT], len(args["cells"]), args["forks"]))
