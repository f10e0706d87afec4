# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

DOCUMENTATION = r"""
name: machine_scaling
short_description: Plan the scaling of an instance type's MachineSets
version_added: 0.1.0
description:
  - The provider (AWS, IBM Cloud, Google Cloud, Azure) is read from the MachineSets.
  - Without O(name) the machines of all sets of the type count, and the first set is scaled by the difference.
author: The psap.perf developers (@openshift-psap)
positional: machines, pods
options:
  _input:
    description: All MachineSets of the cluster.
    type: list
    elements: dict
    required: true
  machines:
    description: All Machines of the cluster.
    type: list
    elements: dict
    required: true
  pods:
    description:
      - All pods of the cluster with C(metadata.ownerReferences), C(spec.nodeName) and C(status.phase).
    type: list
    elements: dict
    required: true
  instance_type:
    description: The provider's name of the type.
    type: str
    required: true
  scale:
    description: Number of machines of the type to have.
    type: int
    required: true
  name:
    description: The set to have them, regardless of others of the type; empty for all sets of the type.
    type: str
    default: ""
  base_machineset:
    description: The set to clone if the type has none; empty for the first set of workers.
    type: str
    default: ""
  force:
    description: Whether sets of the type beyond the first may be scaled to 0.
    type: bool
    default: false
  taint:
    description: Taints of the nodes, as V(key=value:effect).
    type: list
    elements: str
    default: []
  spot:
    description: Whether the machines are to be spot instances.
    type: bool
    default: false
  disk_size:
    description: Size of the root volume in GB; the cloned set's if not given.
    type: int
  ibm:
    description: Refused if it differs from the provider in the MachineSets.
    type: bool
"""

EXAMPLES = r"""
- name: Determine the changes
  ansible.builtin.set_fact:
    changes: "{{ sets.objects | psap.perf.machine_scaling(machines, pods, instance_type='g5.2xlarge', scale=4) }}"
"""

RETURN = r"""
_value:
  description:
    - C(clone), a MachineSet to create, empty for none; C(changes), sets to change, each with its C(name) and the
      C(change) to merge into it; C(removed), manifests of sets to delete, which this collection created and which are
      no longer needed; C(awaited), names of sets to wait for; C(leaving), names of machines to delete first, in sets
      that become smaller; C(failed), names of failed machines that are not deleted anyway.
  type: dict
"""

from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.machines.cloning import Shape
from ansible_collections.psap.perf.plugins.module_utils.machines.leaving import departures, pods_of_users
from ansible_collections.psap.perf.plugins.module_utils.machines.scaling import Plan, Request, plan
from ansible_collections.psap.perf.plugins.module_utils.machines.taints import parse_taints
from ansible_collections.psap.perf.plugins.plugin_utils.filters import INPUT, documented


class FilterModule:
    """Plan a scaling of machines."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return this file's filter."""
        return {"machine_scaling": documented(DOCUMENTATION, _compute)}


def _compute(args: Mapping[str, Any]) -> dict[str, Any]:
    sets: list[Manifest] = args[INPUT]
    planned = plan(sets, _request(args))
    leaving = departures(_planned_replicas(sets, planned), args["machines"], pods_of_users(args["pods"]))
    return {
        "clone": planned.clone or {},
        "changes": [{"name": item.name, "change": item.change} for item in planned.changes],
        "removed": [_reference(item) for item in sets if item["metadata"]["name"] in planned.removed],
        "awaited": planned.awaited,
        "leaving": leaving.first,
        "failed": leaving.failed,
    }


def _request(args: Mapping[str, Any]) -> Request:
    shape = Shape(args["instance_type"], parse_taints(args["taint"]), args["spot"], args["disk_size"])
    return Request(shape, args["scale"], args["name"], args["base_machineset"], args["force"], args["ibm"])


def _reference(item: Manifest) -> Manifest:
    """Return the part of *item* that is needed to delete it."""
    metadata = {name: item["metadata"][name] for name in ("name", "namespace")}
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": metadata}


def _planned_replicas(sets: list[Manifest], planned: Plan) -> dict[str, int]:
    """Return how many machines each existing set is to have, by its uid."""
    present = {item["metadata"]["name"]: item for item in sets}
    awaited = {name: present[name]["spec"].get("replicas", 1) for name in planned.awaited if name in present}
    awaited |= {item.name: item.replicas for item in planned.changes}
    return {present[name]["metadata"]["uid"]: replicas for name, replicas in awaited.items()}
