"""Take CustomResourceDefinitions away, with all objects of their kinds, whether or not anybody finishes those."""

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

    :param controllers_s: until what is still there loses its finalizers; infinite for never.
    :param timeout_s: until it is an error that something is still there.
    :param check: raises when the user asked to stop.
    """

    controllers_s: float
    timeout_s: float
    check: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Purged:
    """What became of one kind: the names of its objects, and those that lost their finalizers."""

    definition: str
    objects: tuple[str, ...]
    freed: tuple[str, ...]


def definitions(cluster: Cluster, groups: Sequence[str], labels: Sequence[str], first: Sequence[str]) -> list[Manifest]:
    """The definitions of the API *groups* and of those below them, and those with any of the *labels*.

    Those that *first* names come first, in that order.
    """
    found, _version = cluster.list(Query(*_DEFINITION))
    chosen = [item for item in found if _is_of(item, groups) or set(labels) & set(item["metadata"].get("labels") or {})]
    order = {name: number for number, name in enumerate(first)}
    return sorted(chosen, key=lambda item: (order.get(item["metadata"]["name"], len(order)), item["metadata"]["name"]))


def _is_of(definition: Manifest, groups: Sequence[str]) -> bool:
    group = str(definition["spec"]["group"])
    return any(group == wanted or group.endswith(f".{wanted}") for wanted in groups)


def purge(cluster: Cluster, found: Sequence[Manifest], patience: Patience, *, check_mode: bool) -> list[Purged]:
    """Delete the objects of each definition, kind after kind, and then the definitions; in *check_mode* only look.

    :raises WaitTimeoutError: when something is still there after the timeout; it names what.
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
    # any other version needs a conversion by the webhook of an operator, which may be gone
    chosen = next((version for version in served if version.get("storage")), served[0])
    return Query(f"{spec['group']}/{chosen['name']}", spec["names"]["kind"])


def _list(cluster: Cluster, definition: Manifest) -> list[Manifest]:
    """The objects of the kind; none when somebody else removed it."""
    query = _objects_of(definition)
    try:
        return cluster.list(query)[0] if cluster.serves(query.api_version, query.kind) else []
    except ClusterError:
        if cluster.get(query_of(definition)) is not None:
            raise
        return []


def _remove_definition(cluster: Cluster, definition: Manifest, patience: Patience) -> None:
    # what a controller made meanwhile goes with the definition
    cluster.delete(query_of(definition))
    _wait_until_gone(cluster, query_of(definition), [definition], patience, lambda _left: _list(cluster, definition))


def _wait_until_gone(
    cluster: Cluster,
    query: Query,
    gone: Iterable[Manifest],
    patience: Patience,
    held: Callable[[list[Manifest]], list[Manifest]] = lambda left: left,
) -> list[str]:
    """Wait until *gone* are; what is made meanwhile under the same names is another's.

    :param held: whose finalizers are in the way of what is left.
    :returns: what lost its finalizers.
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
    """Wait until something of *query* is deleted, or for a moment."""
    for event, _item in cluster.watch(query, version, _WATCH_S):
        if event == "DELETED":
            return
