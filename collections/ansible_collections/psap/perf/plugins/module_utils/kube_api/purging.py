"""Delete CustomResourceDefinitions and all objects of their kinds, even if no controller removes their finalizers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.applying import query_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest, title
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

_DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
_NAMES_SHOWN = 5
_WATCH_S = 1


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for one kind.

    Attributes:
        controllers_s: Time until the finalizers of remaining objects are removed; infinite to keep them.
        timeout_s: Time until remaining objects are an error.
        check: Raises if the user interrupts the run.
    """

    controllers_s: float
    timeout_s: float
    check: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Purged:
    """The deleted objects of one kind, and those whose finalizers were removed."""

    definition: str
    objects: tuple[str, ...]
    freed: tuple[str, ...]


def definitions(cluster: Cluster, groups: Sequence[str], labels: Sequence[str], first: Sequence[str]) -> list[Manifest]:
    """Return the definitions of the API *groups* and of groups below them, and those with any of the *labels*.

    Definitions in *first* come first, in that order.
    """
    found, _version = cluster.list(Query(*_DEFINITION))
    chosen = [item for item in found if _is_of(item, groups) or set(labels) & set(item["metadata"].get("labels") or {})]
    order = {name: number for number, name in enumerate(first)}
    return sorted(chosen, key=lambda item: (order.get(item["metadata"]["name"], len(order)), item["metadata"]["name"]))


def _is_of(definition: Manifest, groups: Sequence[str]) -> bool:
    group = str(definition["spec"]["group"])
    return any(group == wanted or group.endswith(f".{wanted}") for wanted in groups)


def purge(cluster: Cluster, found: Sequence[Manifest], patience: Patience, *, check_mode: bool) -> list[Purged]:
    """Delete the objects of each definition, kind after kind, and then the definitions; in *check_mode* only list them.

    Raises:
        WaitTimeoutError: If objects still exist after the timeout; the message names them.
    """
    emptied = [_empty(cluster, item, patience, check_mode=check_mode) for item in found]
    if not check_mode:
        for item in found:
            _remove_definition(cluster, item, patience)
    return emptied


def _empty(cluster: Cluster, definition: Manifest, patience: Patience, *, check_mode: bool) -> Purged:
    name = definition["metadata"]["name"]
    found = _list(cluster, definition)
    freed: list[str] = []
    if not check_mode:
        for item in found:
            cluster.delete(query_of(item))
        freed = _wait_until_gone(cluster, _objects_of(definition), found, patience)
    return Purged(name, tuple(title(item) for item in found), tuple(freed))


def _objects_of(definition: Manifest) -> Query:
    spec = definition["spec"]
    served = [version for version in spec["versions"] if version.get("served")]
    # other versions need a conversion by the webhook of an operator, which may be gone
    chosen = next((version for version in served if version.get("storage")), served[0])
    return Query(f"{spec['group']}/{chosen['name']}", spec["names"]["kind"])


def _list(cluster: Cluster, definition: Manifest) -> list[Manifest]:
    """Return the objects of the kind; none if another client has removed the kind."""
    query = _objects_of(definition)
    try:
        return cluster.list(query)[0] if cluster.serves(query.api_version, query.kind) else []
    except ClusterError:
        if cluster.get(query_of(definition)) is not None:
            raise
        return []


def _remove_definition(cluster: Cluster, definition: Manifest, patience: Patience) -> None:
    # objects that a controller creates meanwhile are deleted with the definition
    cluster.delete(query_of(definition))
    _wait_until_gone(cluster, query_of(definition), [definition], patience, lambda _left: _list(cluster, definition))


def _wait_until_gone(
    cluster: Cluster,
    query: Query,
    gone: Iterable[Manifest],
    patience: Patience,
    held: Callable[[list[Manifest]], list[Manifest]] = lambda left: left,
) -> list[str]:
    """Wait until the objects *gone* are deleted; later objects of the same names do not count.

    Args:
        held: Returns the objects whose finalizers block the deletion, from the remaining objects.

    Returns:
        The titles of objects whose finalizers were removed.
    """
    uids = {item["metadata"]["uid"] for item in gone}
    began = time.monotonic()
    freed: list[str] | None = None
    while uids:
        patience.check()
        listed, version = cluster.list(query)
        left = [item for item in listed if item["metadata"]["uid"] in uids]
        waited_s = time.monotonic() - began
        if not left:
            break
        if waited_s >= patience.timeout_s:
            shown = ", ".join(title(item) for item in left[:_NAMES_SHOWN])
            raise WaitTimeoutError(f"{len(left)} of {query} are still there after {waited_s:.0f} s: {shown}")
        if waited_s >= patience.controllers_s and freed is None:
            freed = _free(cluster, held(left))
            continue
        _watch(cluster, query, version)
    return freed or []


def _free(cluster: Cluster, items: Iterable[Manifest]) -> list[str]:
    held = [item for item in items if item["metadata"].get("finalizers")]
    for item in held:
        try:
            cluster.merge(query_of(item), {"metadata": {"finalizers": None}})
        except ClusterError:
            if cluster.get(query_of(item)) is not None:
                raise
    return [title(item) for item in held]


def _watch(cluster: Cluster, query: Query, version: str) -> None:
    """Wait until an object of *query* is deleted, but not longer than a moment."""
    for event, _item in cluster.watch(query, version, _WATCH_S):
        if event == "DELETED":
            return
