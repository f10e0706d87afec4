# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: llm_d_plan
short_description: Plan what the flow llm_d downloads, and the pods and loads of its cells
version_added: 0.1.0
description:
  - For the first play of the flow llm_d, after M(psap.perf.settings). An invalid flavor is refused, and a load that
    the generator cannot create.
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
  manifest:
    description: The manifest of the LLMInferenceService before flavor, model and patch change it.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Plan
  ansible.builtin.set_fact:
    perf_plan: >-
      {{ perf_checked.settings | psap.perf.llm_d_plan(perf_checked.cells,
         manifest=lookup('ansible.builtin.file', llm_d_manifest) | from_yaml) }}
"""

RETURN = r"""
_value:
  description:
    - C(downloads), C(source) and C(folder) of each model to download to the claim; C(gpus), the maximum of a pod;
      C(auth), whether Open Data Hub requires a token in requests of a cell; C(pods), the pods that serve the model in
      each cell, for P(psap.perf.nodes_for_cells#filter); C(loads), the arguments of P(psap.perf.serving_run_load#role)
      for each load of a cell, empty if guidellm's own command loads the model.
  type: dict
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.serving.llm_d_plan import llm_d_plan
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Plan what the flow llm_d downloads and serves."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"llm_d_plan": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    return asdict(llm_d_plan(args[INPUT], args["cells"], args["manifest"]))
