# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
module: free_resources
short_description: Compute the free resources of each node
version_added: 0.1.0
description:
  - What is allocatable, less the requests of all pods that have not ended, less a margin. Nodes that are not Ready, or
    cordoned, are left out.
author: The psap.perf developers
options:
  label_selector:
    description: Which nodes, as kubectl's C(-l); all if not given.
    type: str
  resources:
    description: Which resources, such as V(cpu), V(memory), V(nvidia.com/gpu).
    type: list
    elements: str
    default: [cpu, memory]
  margin:
    description: What stays free, a quantity by resource.
    type: dict
    default: {}
  ignore_pods:
    description: Pods that count as if they were not there, as a label selector.
    type: str
"""

EXAMPLES = r"""
- name: Reckon what is free
  psap.perf.free_resources:
    label_selector: node-role.kubernetes.io/worker
    margin: {cpu: 10m, memory: 200Mi}
  register: __cluster_fill_workernodes_free
"""

RETURN = r"""
nodes:
  description: Name and free resources of each node; a resource of which nothing is free is left out.
  type: list
  elements: dict
  returned: success
  sample: [{name: worker-0, free: {cpu: 31990m, memory: 120000Mi}}]
"""
