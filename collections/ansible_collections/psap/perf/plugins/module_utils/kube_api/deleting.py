"""Delete what a query matches, all at once, and wait until it is gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

_NAMES_SHOWN = 5
_WATCH_S = 3


def delete_matching(
    cluster: Cluster, query: Query, *, check_mode: bool, timeout_s: float, check: Callable[[], None]
) -> list[str]:
    """The names of what *query* matched; deleted and gone, unless in *check_mode*.

    :param check: raises when the user asked to stop.
    :raises WaitTimeoutError: when something is still there after *timeout_s*; it names what.
    """
    if not cluster.serves(query.api_version, query.kind):
        return []
    found, _version = cluster.list(query)
    if found and not check_mode:
        deadline = time.monotonic() + timeout_s
        for each in _requests(query, found):
            _delete(cluster, each, deadline, check)
        wait_until_gone(cluster, query, deadline, check)
    return [str(item["metadata"]["name"]) for item in found]


def _requests(query: Query, found: Sequence[Manifest]) -> list[Query]:
    """What to delete by one request each: of Namespaces, the API server deletes no collection."""
    if query.kind != "Namespace":
        return [query]
    names = [str(item["metadata"]["name"]) for item in found]
    return [Query(query.api_version, query.kind, name=name) for name in names]


def _count(cluster: Cluster, query: Query) -> int:
    found, _version = cluster.list(query)
    return len(found)


def _delete(cluster: Cluster, query: Query, deadline: float, check: Callable[[], None]) -> None:
    """One request may end before the server is through with thousands: it is repeated while that helps."""
    if query.name:
        cluster.delete(query)
        return
    left = _count(cluster, query)
    while True:
        check()
        try:
            cluster.delete_collection(query)
        except ClusterError:
            still = _count(cluster, query)
            if still >= left or time.monotonic() > deadline:
                raise
            left = still
        else:
            return


def wait_until_gone(cluster: Cluster, query: Query, deadline: float, check: Callable[[], None]) -> None:
    """Wait until nothing that *query* matches is being deleted; what a controller made in its place may be there.

    :param deadline: of ``time.monotonic``.
    :raises WaitTimeoutError: when something is still there then; it names what.
    """
    while True:
        check()
        listed, version = cluster.list(query)
        going = [item["metadata"] for item in listed if item["metadata"].get("deletionTimestamp")]
        left = {metadata["uid"]: str(metadata["name"]) for metadata in going}
        if not left:
            return
        if time.monotonic() > deadline:
            shown = ", ".join(sorted(left.values())[:_NAMES_SHOWN])
            raise WaitTimeoutError(
                f"{len(left)} of {query} are still there: {shown}; a finalizer may hold them (metadata.finalizers)"
            )
        for event, item in cluster.watch(query, version, _WATCH_S):
            if event == "DELETED":
                left.pop(item["metadata"]["uid"], None)
            if not left:
                break
