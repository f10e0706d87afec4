"""Apply manifests to a cluster or delete their objects, and return what changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import InvalidError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.deleting import wait_until_gone
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest, hidden, stable, title
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

_MARKS = "psap.perf/"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The change of one object; *before* and *after* are YAML without fields that only the server sets."""

    title: str
    changed: bool
    before: str
    after: str

    @property
    def difference(self) -> dict[str, str]:
        """The difference in the format that Ansible prints."""
        return {"before_header": self.title, "after_header": self.title, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class Replacing:
    """Which objects may be deleted and created again if the server refuses to change them in place.

    Attributes:
        kinds: Their kinds; none that stores data.
        timeout_s: Time to wait until the previous object is gone.
        check: Raises if the user interrupts the run.
    """

    kinds: frozenset[str]
    timeout_s: float
    check: Callable[[], None]


def apply_all(cluster: Cluster, manifests: Sequence[Manifest], check_mode: bool, replacing: Replacing) -> list[Outcome]:
    """Apply each manifest on the server, in order.

    Raises:
        ClusterError: If the server refuses one; the previous ones stay applied.
    """
    return [_apply(cluster, manifest, check_mode, replacing) for manifest in manifests]


def _apply(cluster: Cluster, manifest: Manifest, check_mode: bool, replacing: Replacing) -> Outcome:
    before = _present(cluster, manifest, check_mode)
    if check_mode and (before is None or not cluster.serves(manifest["apiVersion"], manifest["kind"])):
        # an earlier command of the run may create the namespace or the CRD
        return Outcome(title(manifest), True, "", _shown(manifest))
    if before is not None and manifest["kind"] == "Namespace":
        manifest = _with_existing_marks(manifest, before)
    try:
        after = cluster.apply(manifest, dry_run=check_mode)
    except InvalidError as error:
        if manifest["kind"] not in replacing.kinds or before is None or not _is_immutable(error):
            raise
        after = manifest if check_mode else _replace(cluster, manifest, replacing)
        return Outcome(title(manifest), True, _shown(before), _shown(after))
    if check_mode:
        changed = before is None or stable(before) != stable(after)
    else:
        # an apply without changes does not change the object's version
        changed = before is None or before["metadata"]["resourceVersion"] != after["metadata"]["resourceVersion"]
    return Outcome(title(manifest), changed, _shown(before), _shown(after))


def _with_existing_marks(manifest: Manifest, before: Manifest) -> Manifest:
    """Return the manifest of a namespace with the labels of this collection that the namespace has.

    Commands recognize by them the namespaces that they created. To apply another command's manifest of the same
    namespace would remove them.
    """
    metadata = manifest["metadata"]
    found = (before["metadata"].get("labels") or {}).items()
    marks = {key: value for key, value in found if key.startswith(_MARKS)}
    return {**manifest, "metadata": {**metadata, "labels": {**marks, **(metadata.get("labels") or {})}}}


def _is_immutable(error: InvalidError) -> bool:
    """Return whether the manifest conflicts with the existing object, rather than being invalid."""
    return any(word in str(error).lower() for word in ("immutable", "forbidden", "may not change"))


def _replace(cluster: Cluster, manifest: Manifest, replacing: Replacing) -> Manifest:
    _delete(cluster, query_of(manifest), replacing.timeout_s, replacing.check)
    return cluster.apply(manifest)


def _shown(obj: Manifest | None) -> str:
    return dump_yaml(hidden(stable(obj))) if obj else ""


def _present(cluster: Cluster, manifest: Manifest, tolerant: bool) -> Manifest | None:
    try:
        return cluster.get(query_of(manifest))
    except ClusterError:
        if tolerant and not cluster.serves(manifest["apiVersion"], manifest["kind"]):
            return None
        raise


def query_of(manifest: Manifest) -> Query:
    """Return the query for the object that *manifest* describes."""
    metadata = manifest["metadata"]
    return Query(manifest["apiVersion"], manifest["kind"], namespace=metadata.get("namespace"), name=metadata["name"])


def delete_all(
    cluster: Cluster,
    manifests: Sequence[Manifest],
    check_mode: bool,
    timeout_s: float,
    check: Callable[[], None],
) -> list[Outcome]:
    """Delete each object, in reverse order, and wait until it is gone.

    Raises:
        WaitTimeoutError: If one still exists after *timeout_s*.
    """
    outcomes: list[Outcome] = []
    for manifest in reversed(manifests):
        if not cluster.serves(manifest["apiVersion"], manifest["kind"]):
            outcomes.append(Outcome(title(manifest), False, "", ""))
            continue
        query = query_of(manifest)
        before = cluster.get(query)
        if before is not None and not check_mode:
            _delete(cluster, query, timeout_s, check)
        outcomes.append(Outcome(title(manifest), before is not None, _shown(before), ""))
    return outcomes


def _delete(cluster: Cluster, query: Query, timeout_s: float, check: Callable[[], None]) -> None:
    # in the foreground, the object is deleted after all objects that it owns
    cluster.delete(query, propagation="Foreground")
    wait_until_gone(cluster, query, time.monotonic() + timeout_s, check)
