# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections import defaultdict

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster, Manifest, Query
from ansible_collections.psap.perf.plugins.module_utils.machines.free_resources import free_of, is_usable
from ansible_collections.psap.perf.plugins.modules.free_resources import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Compute the free resources of each node."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Two lists of the whole cluster, whatever the number of nodes."""
        args = context.args
        cluster = context.cluster()
        query = Query("v1", "Node", label_selector=args["label_selector"])
        found, _version = cluster.list(query)
        nodes = [node for node in found if is_usable(node)]
        if not nodes:
            raise ClusterError(f"there are no {query} that are Ready and not cordoned; choose others")
        pods = _pods_by_node(cluster, args["ignore_pods"])
        free = [
            {
                "name": node["metadata"]["name"],
                "free": free_of(node, pods[node["metadata"]["name"]], args["resources"], args["margin"]),
            }
            for node in nodes
        ]
        return VerbResult(values={"nodes": free})


def _pods_by_node(cluster: Cluster, ignored: str | None) -> dict[str, list[Manifest]]:
    every = Query("v1", "Pod", field_selector="spec.nodeName!=")
    pods, _version = cluster.list(every)
    skipped = cluster.list(Query("v1", "Pod", label_selector=ignored))[0] if ignored else []
    uids = {pod["metadata"]["uid"] for pod in skipped}
    by_node: dict[str, list[Manifest]] = defaultdict(list)
    for pod in pods:
        if pod["metadata"]["uid"] not in uids:
            by_node[pod["spec"]["nodeName"]].append(pod)
    return by_node
