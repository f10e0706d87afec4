# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: free_resources
short_description: Compute the free resources of each node
version_added: 0.1.0
description:
  - The allocatable resources minus the requests of all pods that have not ended, minus a margin. Nodes that are not
    Ready, or cordoned, are left out.
author: The psap.perf developers (@openshift-psap)
positional: pods
options:
  _input:
    description: The nodes.
    type: list
    elements: dict
    required: true
  pods:
    description:
      - All pods of the cluster, except those to ignore. The filter reads C(status.phase)
        and, from C(spec), C(nodeName), C(overhead), C(resources), and C(resources) and C(restartPolicy) of its
        C(containers) and C(initContainers).
    type: list
    elements: dict
    required: true
  resources:
    description: The resources, such as V(cpu), V(memory), V(nvidia.com/gpu).
    type: list
    elements: str
    default: [cpu, memory]
  margin:
    description: A quantity to keep free, by resource.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Compute the free resources
  ansible.builtin.set_fact:
    free: "{{ nodes.objects | psap.perf.free_resources(pods.objects, margin={'cpu': '10m', 'memory': '200Mi'}) }}"
"""

RETURN = r"""
_value:
  description: Name and free resources of each node; a resource with nothing free is left out.
  type: list
  elements: dict
  sample: [{name: worker-0, free: {cpu: 31990m, memory: 120000Mi}}]
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.machines.free_resources import free_of, is_usable
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Compute the free resources of each node."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"free_resources": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> list[dict[str, Any]]:
    on_node: dict[str | None, list[Manifest]] = defaultdict(list)
    for pod in args["pods"]:
        on_node[pod["spec"].get("nodeName")].append(pod)
    names = {node["metadata"]["name"]: node for node in args[INPUT] if is_usable(node)}
    return [
        {"name": name, "free": free_of(node, on_node[name], args["resources"], args["margin"])}
        for name, node in names.items()
    ]
