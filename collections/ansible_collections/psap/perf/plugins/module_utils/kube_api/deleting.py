"""Delete all objects that a query matches, and wait until they are gone."""

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
    """Delete the objects that *query* matches, unless in *check_mode*, and return their names.

    Raises:
        WaitTimeoutError: If objects still exist after *timeout_s*; the message names them.
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
    """Return one query for each request: the API server does not delete collections of Namespaces."""
    if query.kind != "Namespace":
        return [query]
    names = [str(item["metadata"]["name"]) for item in found]
    return [Query(query.api_version, query.kind, name=name) for name in names]


def _count(cluster: Cluster, query: Query) -> int:
    found, _version = cluster.list(query)
    return len(found)


def _delete(cluster: Cluster, query: Query, deadline: float, check: Callable[[], None]) -> None:
    """Repeat the request while objects disappear: with thousands of objects, one request may end too early."""
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
    """Wait until no object that *query* matches is being deleted; new objects of a controller may exist.

    Args:
        deadline: Time of ``time.monotonic``.
        check: Raises if the user interrupts the run.

    Raises:
        WaitTimeoutError: If objects are being deleted at the deadline; the message names them.
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
