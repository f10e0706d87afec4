# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: nodes_for_cells
short_description: Compute how many machines of a type the pods of each cell need
version_added: 0.1.0
description:
  - The maximum of all cells. Concurrent pods share nodes; the system keeps 2 CPUs and 4 GiB of each node, which runs at
    most 235 pods of the test. A pod runs on one node.
author: The psap.perf developers (@openshift-psap)
positional: instance_type
options:
  _input:
    description:
      - The concurrent pods of each cell, as a list with an entry for each kind; their V(count), and the V(cpu) and
        V(memory), as Kubernetes quantities, and V(gpus) that each requests.
    type: list
    elements: list
    required: true
  instance_type:
    description: The cloud's name of the machine type.
    type: str
    required: true
  machines:
    description: Unknown types, each with C(cpus), C(memory_gib), and C(gpus) if it has any.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Compute the number of nodes
  ansible.builtin.set_fact:
    count: "{{ [[{'count': 3, 'cpu': 2, 'memory': '16Gi', 'gpus': 1}]] | psap.perf.nodes_for_cells('p4d.24xlarge') }}"
"""

RETURN = r"""
_value:
  description: The number of nodes.
  type: int
"""

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods, machine_of, nodes_for_all
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Size a cluster for the cells of a matrix."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"nodes_for_cells": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> int:
    machine = machine_of(args["instance_type"], args["machines"])
    return max((nodes_for_all(machine, [_pods(kind) for kind in cell]) for cell in args[INPUT]), default=0)


def _pods(kind: Mapping[str, Any]) -> Pods:
    return Pods(int(kind["count"]), str(kind["cpu"]), str(kind["memory"]), int(kind["gpus"]))
