"""Find out whether nodes have their configuration, including what the pool's status does not show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import query_from
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Object, Verdict, condition

_GROUP = "machineconfiguration.openshift.io"
_NAMED_NODES = 3
_OPERATORS: Mapping[str, str] = {"In": "in", "NotIn": "notin"}


def kubelet_config_ready(obj: Object) -> Verdict:
    """Return whether the controller has rendered it, by the last of its conditions."""
    status = obj.get("status", {})
    newest = ((status.get("conditions") or [{}])[-1]) or {}
    generation = obj["metadata"].get("generation", 0)
    if not newest or status.get("observedGeneration", generation) < generation:
        return Verdict(False, "the controller has not seen the newest generation yet")
    words = f"{newest.get('type')}: {newest.get('message', '')}".rstrip(": ")
    return Verdict(newest.get("type") == "Success", words, newest.get("type") == "Failure")


def pool_updated(obj: Object) -> Verdict:
    """Return whether all nodes of the pool have its configuration; hopeless if it is degraded or paused."""
    for kind in ("RenderDegraded", "NodeDegraded", "Degraded"):
        found = condition(obj, kind) or {}
        if found.get("status") == "True":
            words = ": ".join(filter(None, (kind, found.get("reason"), found.get("message"))))
            return Verdict(False, words, True)
    spec, status = obj.get("spec", {}), obj.get("status", {})
    if status.get("observedGeneration", 0) < obj["metadata"].get("generation", 0):
        return Verdict(False, "the controller has not seen the newest generation yet")
    updated = (condition(obj, "Updated") or {}).get("status") == "True"
    if updated and _configuration(spec) == _configuration(status):
        return Verdict(True)
    count = f"{status.get('updatedMachineCount', 0)} of {status.get('machineCount', 0)} nodes updated"
    return Verdict(False, f"{count}, and the pool is paused" if spec.get("paused") else count, bool(spec.get("paused")))


def behind(source: Source, pool: Manifest) -> str:
    """Return what an updated *pool* has not applied yet, or which nodes are behind; empty if all is applied.

    Its own status is Updated until its controller has seen a new configuration.

    Raises:
        ClusterError: If the cluster does not answer.
    """
    return _not_rendered(source, pool) or _lagging(source, pool)


def _not_rendered(source: Source, pool: Manifest) -> str:
    configs = _listed(source, "MachineConfig", pool["spec"].get("machineConfigSelector") or {})
    name = _configuration(pool["spec"])
    rendered, _version = source.list(query_from({"kind": "MachineConfig", "name": name})) if name else ([], "")
    present = dict(_files(rendered))
    wanted = dict(_files(sorted(configs, key=_name)))
    parts = {each["name"] for each in (pool["spec"].get("configuration") or {}).get("source") or ()}
    missing = sorted({_name(each) for each in configs} ^ parts)
    other = sorted(path for path, contents in wanted.items() if present.get(path) != contents)
    what = missing or other
    return f"its configuration does not have the changes yet: {', '.join(what[:_NAMED_NODES])}" if what else ""


def _lagging(source: Source, pool: Manifest) -> str:
    texts = []
    for node in _listed(source, "Node", pool["spec"].get("nodeSelector") or {}):
        notes = node["metadata"].get("annotations") or {}
        state = notes.get(f"{_GROUP}/state", "")
        # a node of another pool has that pool's configuration
        desired = notes.get(f"{_GROUP}/desiredConfig", "")
        if desired.startswith(f"rendered-{_name(pool)}-") and (
            state != "Done" or notes.get(f"{_GROUP}/currentConfig") != desired
        ):
            reason = notes.get(f"{_GROUP}/reason")
            texts.append(f"{_name(node)} is {state or 'not started'}{f' ({reason})' if reason else ''}")
    more = f" and {len(texts) - _NAMED_NODES} more" if len(texts) > _NAMED_NODES else ""
    return f"{', '.join(texts[:_NAMED_NODES])}{more}"


def _listed(source: Source, kind: str, selector: Mapping[str, Any]) -> list[Manifest]:
    terms = ",".join(_terms(selector)) or None
    items, _version = source.list(query_from({"kind": kind, "label_selector": terms}))
    return items


def _terms(selector: Mapping[str, Any]) -> Iterator[str]:
    """Yield the terms of an API selector in the format of kubectl's ``-l``."""
    for key, value in (selector.get("matchLabels") or {}).items():
        yield f"{key}={value}"
    for each in selector.get("matchExpressions") or ():
        key, operator = each["key"], each["operator"]
        if operator in _OPERATORS:
            yield f"{key} {_OPERATORS[operator]} ({','.join(each['values'])})"
        else:
            yield key if operator == "Exists" else f"!{key}"


def _files(configs: Iterable[Manifest]) -> Iterator[tuple[str, Any]]:
    for config in configs:
        storage = (config["spec"].get("config") or {}).get("storage") or {}
        for each in storage.get("files") or ():
            yield each["path"], (each.get("contents") or {}).get("source")


def _configuration(part: Object) -> str:
    return str((part.get("configuration") or {}).get("name") or "")


def _name(item: Manifest) -> str:
    return str(item["metadata"]["name"])
