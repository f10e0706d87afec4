"""Workloads of Run:ai: objects without a pod template, each of whose fields is an object with a ``value``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_GROUP = "run.ai/"
# a project's workloads are in a namespace that is named after it
PROJECT_NAMESPACE = "runai-"
PROJECT_LABEL = "runai/queue"

INTERACTIVE = "InteractiveWorkload"

Manifest = Mapping[str, Any]


def is_runai(manifest: Manifest) -> bool:
    """Return whether *manifest* is a workload of Run:ai."""
    return is_runai_version(str(manifest.get("apiVersion", "")))


def is_runai_version(api_version: str) -> bool:
    """Return whether *api_version* belongs to Run:ai."""
    return api_version.startswith(_GROUP)


def project_of(namespace: str) -> str | None:
    """Return the project to which *namespace* belongs, or None."""
    return namespace.removeprefix(PROJECT_NAMESPACE) if namespace.startswith(PROJECT_NAMESPACE) else None


def pods_of(manifest: Manifest) -> int:
    """Return the number of the workload's pods."""
    if manifest["kind"] == "DistributedWorkload":
        # a master and the workers
        return 1 + int(_value(manifest, "workers") or 0)
    return int(_value(manifest, "completions") or _value(manifest, "parallelism") or 1)


def gpus_of(manifest: Manifest) -> int:
    """Return the GPUs of each pod; a share of one counts as one, since other workloads cannot have that whole GPU."""
    gpus = float(_value(manifest, "gpu") or 0)
    return int(gpus) if gpus.is_integer() else int(gpus) + 1


def set_pod_metadata(manifest: dict[str, Any], labels: Mapping[str, str], annotations: Mapping[str, str]) -> None:
    """Set labels and annotations of the workload's pods, which Run:ai reads from lists in ``spec``."""
    spec = manifest.setdefault("spec", {})
    for key, values in (("labels", labels), ("annotations", annotations)):
        if values:
            field = spec.setdefault(key, {})
            field["items"] = {**(field.get("items") or {}), **{name: {"value": text} for name, text in values.items()}}


def _value(manifest: Manifest, name: str) -> Any:
    return ((manifest.get("spec") or {}).get(name) or {}).get("value")
