"""Results that a load generator left in the pod of its Job."""

from __future__ import annotations

from typing import BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import Executed, run_in_pod
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.serving.pod_results import fetch
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext

_CONTAINER = "results"


def fetch_results(
    context: VerbContext, namespace: str, selector: str, path: str, stream: BinaryIO, container: str = _CONTAINER
) -> None:
    """Write the file *path* of the pod, by default in its container `results`, to *stream*.

    Raises:
        ClusterError: If the pod or the file does not exist, or the connection breaks.
    """
    cluster = context.cluster()
    query = Query("v1", "Pod", namespace, label_selector=selector)
    pods, _version = cluster.list(query)
    if not pods:
        raise ClusterError(f"no {query}: the pod with the results was deleted")
    where = (namespace, pods[0]["metadata"]["name"], container)

    def run_there(argv: list[str], output: BinaryIO) -> Executed:
        return run_in_pod(cluster.access, where, argv, output, context.check_interrupted)

    fetch(run_there, where[1], path, stream)
