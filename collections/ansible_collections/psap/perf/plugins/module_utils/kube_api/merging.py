"""Change existing objects with merge patches, and return what changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.bounded_yaml import load_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, yaml_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.merge_patch import merged
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import ConflictError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.applying import Outcome, query_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import MANAGED_BY, Manifest, hidden, title
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Change:
    """Values to set.

    Attributes:
        values: A merge patch of the object, or with *key* of the YAML text below that key of a ConfigMap.
    """

    values: Mapping[str, Any]
    key: str | None = None

    def of(self, item: Manifest, name: str) -> Mapping[str, Any]:
        """Return the merge patch of *item*; *name* is for the message.

        Raises:
            UsageError: If the text of the key is not a YAML dictionary.
        """
        if self.key is None:
            return self.values
        text = (item.get("data") or {}).get(self.key, "")
        return {"data": {self.key: configured(text, self.values, f"{self.key} of {name}")}}


def patch_all(
    cluster: Cluster, query: Query, change: Change, check_mode: bool, check: Callable[[], None]
) -> list[Outcome]:
    """Merge *change* into each object that *query* selects, and return the outcomes of those that change.

    If a ConfigMap whose text changes is missing, it is created. For another missing object, a check assumes that an
    earlier command of the run creates it.

    Raises:
        ClusterError: If no object is found, or the server refuses a patch; the previous objects stay patched.
    """
    served = not check_mode or cluster.serves(query.api_version, query.kind)
    found = cluster.list(query)[0] if served else []
    if not found:
        return [_create(cluster, query, change, check_mode)]
    outcomes: list[Outcome] = []
    for item in found:
        check()
        patch = change.of(item, str(query))
        # a request only for objects that change: a command may patch thousands of nodes
        after = item if merged(item, patch) == item else cluster.merge(query_of(item), dict(patch), dry_run=check_mode)
        if touched(item, patch) != touched(after, patch):
            outcomes.append(Outcome(title(item), True, _shown(item, patch), _shown(after, patch)))
    return outcomes


def change_object(
    cluster: Cluster, query: Query, change_of: Callable[[Manifest | None], Manifest | None], *, dry: bool
) -> bool:
    """Change the object of *query*, again if another client changed it meanwhile, and return whether it differs.

    Args:
        change_of: Returns the merge patch of the object, or the manifest of a missing one; None to leave it unchanged.
        dry: Only return whether it would change.

    Raises:
        ConflictError: If other clients change it at each attempt.
    """
    for left in reversed(range(_ATTEMPTS)):
        found = cluster.get(query)
        change = change_of(found)
        if change is None or dry:
            return change is not None
        try:
            if found is None:
                cluster.create(change)
            else:
                version = {"resourceVersion": found["metadata"].get("resourceVersion")}
                cluster.merge(query, {**change, "metadata": {**change.get("metadata", {}), **version}})
        except ConflictError:
            if not left:
                raise
        else:
            return True
    return False


def _create(cluster: Cluster, query: Query, change: Change, check_mode: bool) -> Outcome:
    if change.key is None and not check_mode:
        raise ClusterError(f"found no {query} to patch")
    patch = change.of({}, str(query))
    metadata = {"name": query.name, "namespace": query.namespace, "labels": MANAGED_BY}
    item = merged({"apiVersion": query.api_version, "kind": query.kind, "metadata": metadata}, patch)
    if not check_mode:
        cluster.apply(item)
    return Outcome(str(query), True, "", _shown(item, patch))


def touched(item: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of *item* that *patch* names."""
    return {
        key: touched(item[key], value) if isinstance(value, Mapping) and isinstance(item[key], Mapping) else item[key]
        for key, value in patch.items()
        if key in item
    }


def configured(text: str, values: Mapping[str, Any], where: str) -> str:
    """Return the YAML *text* with *values* merged in; the same text if it already has them.

    Raises:
        UsageError: If *text* is not a YAML dictionary: a merge would lose it.
    """
    try:
        present = load_yaml(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{where} is not YAML, repair or remove it: {error}") from error
    present = {} if present is None else present
    if not isinstance(present, dict):
        raise UsageError(f"{where} must be a dictionary, not a {type(present).__name__}; repair or remove it")
    result = merged(present, values)
    return text if result == present else yaml_text(result)


def _shown(item: Manifest, patch: Mapping[str, Any]) -> str:
    return dump_yaml(touched(hidden(item), patch))
