# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: served_model
short_description: Find the source of a model and the requests of its server
version_added: 0.1.0
description:
  - The models are in C(files/models.yml) of the role C(kserve_deploy_model). A model that the runtime does not serve
    is refused.
author: The psap.perf developers (@openshift-psap)
positional: runtime
options:
  _input:
    description: Name of the model.
    type: str
    required: true
  runtime:
    description: The server, V(llama-cpp), V(standalone-tgis) or V(vllm).
    type: str
    required: true
  models:
    description: Further models by name, in the format of that file; they override known ones key by key.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Find the requests of a model
  ansible.builtin.set_fact:
    model: "{{ 'granite-3b-code-instruct' | psap.perf.served_model('vllm') }}"
"""

RETURN = r"""
_value:
  description: The C(source), KServe's C(storageUri); the C(gpus), C(cpu) and C(memory) that each pod requests.
  type: dict
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.serving.catalogue import catalogue, served_model
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Find a model of the catalogue."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"served_model": documented(DOCUMENTATION, _find)}


def _find(args: Mapping[str, Any]) -> dict[str, Any]:
    return asdict(served_model(catalogue(args["models"]), args[INPUT], args["runtime"]))
