# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: training_plan
short_description: Plan the downloads and trainings of the flow fine_tuning
version_added: 0.1.0
description:
  - For the first play of the flow fine_tuning, after M(psap.perf.settings). It looks up models and data sets in the
    sources, and returns the jobs of each cell.
  - Reports all problems together, each with its setting.
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
    description: How many tasks Ansible runs concurrently; more concurrent jobs are refused, since they would wait.
    type: int
    required: true
"""

EXAMPLES = r"""
- name: Plan
  ansible.builtin.set_fact:
    perf_plan: >-
      {{ perf_checked.settings | psap.perf.training_plan(perf_checked.cells, forks=ansible_forks) }}
"""

RETURN = r"""
_value:
  description:
    - C(downloads), models and data sets to fetch, each with C(name), C(source), C(storage_dir), C(creds) and C(image);
      C(secrets), references of the secrets for fetching them; C(cells), each with its C(trainings), the jobs by the
      arguments of their command and their C(phase); C(gpus), the maximum of a pod of any job, 0 if no job trains on
      GPUs; C(pods), the concurrent pods of each cell, for P(psap.perf.nodes_for_cells#filter).
  type: dict
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.plan import CONCURRENT, Plan, make_plan
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Plan the downloads and trainings of the flow fine_tuning."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"training_plan": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    plan = make_plan(args[INPUT], args["cells"])
    _check_forks(plan, args["forks"])
    secrets = dict.fromkeys(download.creds for download in plan.downloads if download.creds)
    return {**asdict(plan), "secrets": list(secrets)}


def _check_forks(plan: Plan, forks: int) -> None:
    """Refuse more concurrent jobs than Ansible has forks, since the others would wait."""
    together = max((sum(one.phase == CONCURRENT for one in cell.trainings) for cell in plan.cells), default=0)
    if together > forks:
        raise UsageError(
            f"fine_tuning_multi_model: {together} concurrent jobs need as many forks, but Ansible has {forks}; raise "
            "this number with ANSIBLE_FORKS, or use mode many_model"
        )
