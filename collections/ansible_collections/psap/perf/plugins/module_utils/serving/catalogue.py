"""Models that are known by name: where they come from, and what each runtime that serves them requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.merge_patch import merged

_SHIPPED = Path(__file__).resolve().parents[3] / "roles/kserve_deploy_model/files/models.yml"


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model as a runtime serves it: KServe's ``storageUri``, and what each pod requests, as Kubernetes quantities."""

    source: str
    gpus: int
    cpu: str
    memory: str


def catalogue(more: Mapping[str, Any]) -> dict[str, Any]:
    """All known models by name, with *more* that a user gives, or changes key by key."""
    return merged(read_yaml(_SHIPPED), more)


def served_model(known: Mapping[str, Any], name: str, runtime: str) -> ServedModel:
    """The model *name* as *runtime* serves it.

    :param known: models by name, each with its ``source``, and of each runtime ``gpus``, ``cpu`` and ``memory``.
    :raises UsageError: when the runtime does not serve it, saying which it does, and when the catalogue lacks a value.
    """
    model = known.get(name) or {}
    if runtime not in model:
        served = ", ".join(each for each, one in known.items() if runtime in one)
        raise UsageError(f"{name} is no model that {runtime} serves; these are {served}; add it to models")
    try:
        requests = model[runtime]
        return ServedModel(str(model["source"]), int(requests["gpus"]), str(requests["cpu"]), str(requests["memory"]))
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"model {name}: it needs a source, and {runtime} with gpus, a whole number, cpu and memory"
        ) from error
