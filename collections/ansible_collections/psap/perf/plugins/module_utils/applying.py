"""Give manifests to a cluster, or take their objects away; say what that changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.cluster import Cluster, Manifest, Query
from ansible_collections.psap.perf.plugins.module_utils.documents import dump_yaml
from ansible_collections.psap.perf.plugins.module_utils.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.manifests import stable, title
from ansible_collections.psap.perf.plugins.module_utils.waiting import Goal, Progress, wait_for


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one object; *before* and *after* are YAML without what the server keeps for itself."""

    title: str
    changed: bool
    before: str
    after: str


def apply_all(cluster: Cluster, manifests: Sequence[Manifest], check_mode: bool) -> list[Outcome]:
    """Server-side apply of each, in their order.

    :raises ClusterError: when the server refuses one; the ones before it stay applied.
    """
    return [_apply(cluster, manifest, check_mode) for manifest in manifests]


def _apply(cluster: Cluster, manifest: Manifest, check_mode: bool) -> Outcome:
    before = _present(cluster, manifest, check_mode)
    if check_mode and (before is None or not cluster.serves(manifest["apiVersion"], manifest["kind"])):
        # the namespace or the CRD may be what an earlier command of the run would make
        return Outcome(title(manifest), True, "", dump_yaml(stable(manifest)))
    after = cluster.apply(manifest, dry_run=check_mode)
    if check_mode:
        changed = before is None or stable(before) != stable(after)
    else:
        # an apply that changes nothing leaves the object's version alone
        changed = before is None or before["metadata"]["resourceVersion"] != after["metadata"]["resourceVersion"]
    return Outcome(title(manifest), changed, dump_yaml(stable(before)) if before else "", dump_yaml(stable(after)))


def _present(cluster: Cluster, manifest: Manifest, tolerant: bool) -> Manifest | None:
    try:
        return cluster.get(query_of(manifest))
    except ClusterError:
        if tolerant and not cluster.serves(manifest["apiVersion"], manifest["kind"]):
            return None
        raise


def query_of(manifest: Manifest) -> Query:
    """The object that *manifest* describes."""
    metadata = manifest["metadata"]
    return Query(manifest["apiVersion"], manifest["kind"], namespace=metadata.get("namespace"), name=metadata["name"])


def delete_all(
    cluster: Cluster,
    manifests: Sequence[Manifest],
    check_mode: bool,
    timeout_s: float,
    check: Callable[[], None],
) -> list[Outcome]:
    """Delete each, in reverse order, and wait until it is gone.

    :raises WaitTimeoutError: when one is still there after *timeout_s*.
    """
    outcomes: list[Outcome] = []
    for manifest in reversed(manifests):
        if not cluster.serves(manifest["apiVersion"], manifest["kind"]):
            outcomes.append(Outcome(title(manifest), False, "", ""))
            continue
        query = query_of(manifest)
        before = cluster.get(query)
        if before is not None and not check_mode:
            cluster.delete(query)
            goal = Goal(query, f"{query} absent", (), timeout_s, absent=True)
            wait_for(cluster, goal, check, _silent)
        outcomes.append(Outcome(title(manifest), before is not None, dump_yaml(stable(before)) if before else "", ""))
    return outcomes


def _silent(_progress: Progress) -> None:
    """Nobody looks on."""
