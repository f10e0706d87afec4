# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: nodes_for
short_description: Compute how many machines of a type a number of pods needs
version_added: 0.1.0
description:
  - The system keeps 2 CPUs and 4 GiB of each node, which runs at most 235 pods of the test. A pod runs on one node.
author: The psap.perf developers (@openshift-psap)
positional: instance_type
options:
  _input:
    description: Number of pods.
    type: int
    required: true
  instance_type:
    description: The cloud's name of the machine type.
    type: str
    required: true
  cpu:
    description: CPU that each pod requests, as a Kubernetes quantity.
    type: str
    default: 250m
  memory:
    description: Memory that each pod requests, as a Kubernetes quantity.
    type: str
    default: 2Gi
  gpus:
    description: GPUs that each pod requests.
    type: int
    default: 0
  volumes:
    description: Volumes of each pod.
    type: int
    default: 0
  machines:
    description: Unknown types, each with C(cpus), C(memory_gib), and C(gpus) if it has any.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Compute the number of nodes
  ansible.builtin.set_fact:
    count: "{{ (300 | psap.perf.nodes_for('m6i.2xlarge')).nodes }}"
"""

RETURN = r"""
_value:
  description:
    - The number of C(nodes), the resource C(by) which it is limited (V(cpu), V(memory), V(gpus) or V(pods)), and
      C(warnings), such as about more volumes than AWS attaches to a machine.
  type: dict
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods, machine_of, nodes_for
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Size a cluster."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"nodes_for": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    machine = machine_of(args["instance_type"], args["machines"])
    pods = Pods(args[INPUT], args["cpu"], args["memory"], args["gpus"])
    return asdict(nodes_for(machine, pods.count, pods.requests, volumes=args["volumes"]))
