# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster, Manifest, Query
from ansible_collections.psap.perf.plugins.module_utils.machines.cloning import Shape
from ansible_collections.psap.perf.plugins.module_utils.machines.leaving import (
    API_VERSION,
    departures,
    members,
    pods_of_users,
)
from ansible_collections.psap.perf.plugins.module_utils.machines.scaling import Plan, Request, plan
from ansible_collections.psap.perf.plugins.module_utils.machines.taints import parse_taints
from ansible_collections.psap.perf.plugins.modules.openshift.machine_scaling import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Plan a scaling of machines."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Read MachineSets and Machines, and decide."""
        cluster, namespace = context.cluster(), context.args["namespace"]
        request = _request(context.args)
        sets, _version = cluster.list(Query(API_VERSION, "MachineSet", namespace=namespace))
        planned = plan(sets, request)
        machines, _version = cluster.list(Query(API_VERSION, "Machine", namespace=namespace))
        wanted = _wanted(sets, planned)
        leaving = departures(wanted, machines, _pods(cluster, wanted, machines))
        return VerbResult(
            values={
                "clone": planned.clone or {},
                "changes": [{"name": item.name, "change": item.change} for item in planned.changes],
                "removed": [item for item in map(_reference, sets) if item["metadata"]["name"] in planned.removed],
                "awaited": list(planned.awaited),
                "leaving": list(leaving.first),
                "failed": list(leaving.failed),
            }
        )


def _reference(item: Manifest) -> Manifest:
    """As much of a manifest as it takes to delete *item*."""
    metadata = {name: item["metadata"][name] for name in ("name", "namespace")}
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": metadata}


def _request(args: Mapping[str, Any]) -> Request:
    shape = Shape(args["instance_type"], parse_taints(args["taint"]), args["spot"], args["disk_size"])
    return Request(shape, args["scale"], args["name"], args["base_machineset"], args["force"], args["ibm"])


def _wanted(sets: list[Manifest], planned: Plan) -> dict[str, int]:
    """How many machines each set that is there shall have, by its uid."""
    present = {item["metadata"]["name"]: item for item in sets}
    awaited = {name: present[name]["spec"].get("replicas", 1) for name in planned.awaited if name in present}
    awaited |= {item.name: item.replicas for item in planned.changes}
    return {present[name]["metadata"]["uid"]: replicas for name, replicas in awaited.items()}


def _pods(cluster: Cluster, wanted: dict[str, int], machines: list[Manifest]) -> dict[str, int]:
    """How many pods of users each node has, where that makes a difference."""
    if not any(len(members(machines, uid)) > number > 0 for uid, number in wanted.items()):
        return {}
    bound, _version = cluster.list(Query("v1", "Pod", field_selector="spec.nodeName!="))
    return pods_of_users(bound)
