# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: operator_example
short_description: Choose an example (alm-examples) of an installed operator
version_added: 0.1.0
description:
  - The examples are in the annotation C(alm-examples) of its ClusterServiceVersion. If the example does not exist, the
    error lists all.
author: The psap.perf developers (@openshift-psap)
positional: which
options:
  _input:
    description: The ClusterServiceVersion.
    type: dict
    required: true
  which:
    description: V(true) for the first example, the index of another one, from 0, or a kind.
    type: raw
    required: true
"""

EXAMPLES = r"""
- name: Choose the example
  ansible.builtin.set_fact:
    example: "{{ found.objects | first | psap.perf.operator_example('NodeFeatureDiscovery') }}"
"""

RETURN = r"""
_value:
  description: The example without its namespace.
  type: dict
"""

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.openshift.operator_packages import choose_example
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Choose an example of an operator."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"operator_example": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> Manifest:
    example = choose_example(args[INPUT], args["which"])
    metadata = {key: value for key, value in example["metadata"].items() if key != "namespace"}
    return {**example, "metadata": metadata}
