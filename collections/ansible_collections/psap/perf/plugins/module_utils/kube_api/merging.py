"""Change objects that others made by merge patches; say what that changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.bounded_yaml import load_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml, yaml_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.merge_patch import merged
from ansible_collections.psap.perf.plugins.module_utils.kube_api.applying import Outcome, query_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import MANAGED_BY, Manifest, hidden, title
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be set.

    :param values: a merge patch of the object, or with *key* of the YAML text that is there in a ConfigMap.
    """

    values: Mapping[str, Any]
    key: str | None = None

    def of(self, item: Manifest, name: str) -> Mapping[str, Any]:
        """The merge patch of *item*.

        :raises UsageError: when the text of the key is not a YAML dictionary; *name* says whose.
        """
        if self.key is None:
            return self.values
        text = (item.get("data") or {}).get(self.key, "")
        return {"data": {self.key: configured(text, self.values, f"{self.key} of {name}")}}


def patch_all(
    cluster: Cluster, query: Query, change: Change, check_mode: bool, check: Callable[[], None]
) -> list[Outcome]:
    """Merge *change* into each object that *query* chooses; only those that it changes are in the result.

    A ConfigMap whose text is to change is created when it is missing. Of another object that is missing, a check takes
    it that an earlier command of the run would make it.

    :param check: raises when the user asked to stop.
    :raises ClusterError: when there is no such object, or the server refuses one; the ones before it stay patched.
    """
    known = not check_mode or cluster.serves(query.api_version, query.kind)
    found = cluster.list(query)[0] if known else []
    if not found:
        return [_create(cluster, query, change, check_mode)]
    outcomes: list[Outcome] = []
    for item in found:
        check()
        patch = change.of(item, str(query))
        # asked of the server only when needed: a command may be about thousands of nodes
        after = item if merged(item, patch) == item else cluster.merge(query_of(item), dict(patch), dry_run=check_mode)
        if touched(item, patch) != touched(after, patch):
            outcomes.append(Outcome(title(item), True, _shown(item, patch), _shown(after, patch)))
    return outcomes


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
    """What *item* has of the fields that *patch* names."""
    return {
        key: touched(item[key], value) if isinstance(value, Mapping) and isinstance(item[key], Mapping) else item[key]
        for key, value in patch.items()
        if key in item
    }


def configured(text: str, values: Mapping[str, Any], where: str) -> str:
    """*text* as it says *values*, too; the same text when it does already.

    :raises UsageError: when *text* is not YAML, or no dictionary: what is broken is not to be lost by a merge.
    """
    try:
        present = load_yaml(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{where} holds something that is not YAML, repair or remove it: {error}") from error
    present = {} if present is None else present
    if not isinstance(present, dict):
        raise UsageError(f"{where} must be a dictionary, not a {type(present).__name__}; repair or remove it")
    result = merged(present, values)
    return text if result == present else yaml_text(result)


def _shown(item: Manifest, patch: Mapping[str, Any]) -> str:
    return dump_yaml(touched(hidden(item), patch))
