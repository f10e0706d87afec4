"""Pods that are deleted so that their controller makes others."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster, Manifest, Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import pod_ready
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Object, Verdict
from ansible_collections.psap.perf.plugins.module_utils.waiting.waiting import Goal, Progress, wait_for


def replace_pods(
    cluster: Cluster,
    query: Query,
    former: Iterable[Manifest],
    timeout_s: float,
    check: Callable[[], None],
) -> Progress:
    """Delete *former*, the pods that *query* matches, and wait until as many others are ready in their place.

    A StatefulSet's pods keep their names, so they are told apart by their uids.

    :param check: raises when the user asked to stop.
    :raises NotReachedError: when they do not come.
    """
    uids = {str(pod["metadata"]["uid"]) for pod in former}
    cluster.delete_collection(query)

    def replaced(pod: Object) -> Verdict:
        if pod["metadata"]["uid"] in uids:
            return Verdict(False, "it is still there")
        return pod_ready(pod)

    goal = Goal(query, f"{query}: replaced and ready", (replaced,), timeout_s, count=len(uids))
    return wait_for(cluster, goal, check, lambda _progress: None)
