"""Functions for the rules of machine configurations: which are a pool's, their result, and the next node."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from perflab.cluster.api import Document
from perflab.emulators.engine.functions import encoded, selected_by

_GROUP = "machineconfiguration.openshift.io"
_BUILT_IN = ("master", "worker")
_KUBELET = "/etc/kubernetes/kubelet.conf"
_IGNITION = ("2.2.0", "3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0")
# fields of a KubeletConfig that only the operator sets
_NOT_ALLOWED = ("cgroupDriver", "clusterDNS", "clusterDomain", "staticPodPath")


def rendered(configs: Iterable[Document]) -> dict[str, Any]:
    """Return the merged `spec` of configurations, later paths and units overriding earlier ones, its `hash` and its
    `source`; and the `error` if one of them cannot be read.
    """
    configs, spec = list(configs), dict[str, Any](kernelArguments=[])
    files: dict[str, Any] = {}
    units: dict[str, Any] = {}
    for each in configs:
        own = each["spec"]
        config = own.get("config") or {}
        version = (config.get("ignition") or {}).get("version")
        if config and version not in _IGNITION:
            name, known = each["metadata"]["name"], ", ".join(_IGNITION)
            return {"error": f"{name}: parsing Ignition config failed: unknown version {version}. Supported: {known}"}
        files |= {file["path"]: file for file in (config.get("storage") or {}).get("files") or ()}
        units |= {unit["name"]: unit for unit in (config.get("systemd") or {}).get("units") or ()}
        arguments = [*spec["kernelArguments"], *(own.get("kernelArguments") or ())]
        spec |= {**own, "kernelArguments": arguments}
    contents = {"storage": {"files": [*files.values()]}, "systemd": {"units": [*units.values()]}}
    spec["config"] = {"ignition": {"version": _IGNITION[-1]}, **contents}
    digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()
    names = [each["metadata"]["name"] for each in configs]
    source = [{"apiVersion": f"{_GROUP}/v1", "kind": "MachineConfig", "name": name} for name in names]
    return {"spec": spec, "hash": digest[:32], "source": source, "error": ""}


def paths(config: Document) -> list[str]:
    """Return the paths of the files of a configuration."""
    return [file["path"] for file in config["spec"]["config"].get("storage", {}).get("files", ())]


def kubelet_file(settings: Any) -> dict[str, Any]:
    """Return the file of a kubelet with these settings."""
    source = f"data:text/plain;charset=utf-8;base64,{encoded(json.dumps(settings))}"
    return {"path": _KUBELET, "mode": 420, "overwrite": True, "contents": {"compression": "", "source": source}}


def kubelet_settings(config: Document) -> dict[str, Any]:
    """Return the settings of a configuration in that file; empty if it has none."""
    files = config["spec"].get("config", {}).get("storage", {}).get("files", ())
    found = next((file["contents"]["source"] for file in files if file["path"] == _KUBELET), None)
    settings: dict[str, Any] = json.loads(base64.b64decode(found.rpartition(",")[2])) if found else {}
    return settings


def refused(settings: Any) -> str:
    """Return why a KubeletConfig is refused; empty if it is not."""
    taken = next((name for name in _NOT_ALLOWED if settings.get(name)), None)
    return f"setting {taken} is not allowed, but contains: {settings[taken]}" if taken else ""


def members(nodes: Iterable[Document], pool: str, pools: Iterable[Mapping[str, Any]]) -> list[Document]:
    """Return the nodes of a pool, by name: of pools that select a node, one of the user's comes first, then masters."""
    found = sorted(pools, key=lambda each: (each["name"] in _BUILT_IN, each["name"]))
    own = []
    for node in nodes:
        labels = node["metadata"]["labels"]
        if next((each["name"] for each in found if selected_by(labels, each["selector"])), None) == pool:
            own.append(node)
    return sorted(own, key=lambda node: str(node["metadata"]["name"]))


def at_once(limit: Any, count: int) -> int:
    """Return how many of *count* nodes may be unavailable: 1, a number or a share such as `10%`, at least one."""
    text = str(limit or 1)
    return max(1, int(text[:-1]) * count // 100 if text.endswith("%") else int(text))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    each.__name__: each for each in (rendered, paths, kubelet_file, kubelet_settings, refused, members, at_once)
}
