"""The catalogue of models by name: their sources, and the resources that each runtime requests for them."""

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
    """A model with a runtime: KServe's ``storageUri``, and the requests of each pod as Kubernetes quantities."""

    source: str
    gpus: int
    cpu: str
    memory: str


def catalogue(more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the catalogue's models by name, with *more* of the user merged key by key."""
    return merged(read_yaml(_SHIPPED), more)


def served_model(known: Mapping[str, Any], name: str, runtime: str) -> ServedModel:
    """Return the model *name* for *runtime*.

    Args:
        known: Models by name, each with its ``source``, and ``gpus``, ``cpu`` and ``memory`` for each runtime.

    Raises:
        UsageError: If the runtime does not serve it, or a value is missing in the catalogue.
    """
    model = known.get(name) or {}
    if runtime not in model:
        served = ", ".join(each for each, one in known.items() if runtime in one)
        raise UsageError(f"unknown model {name} for {runtime}; it serves {served}; add the model to models")
    try:
        requests = model[runtime]
        return ServedModel(str(model["source"]), int(requests["gpus"]), str(requests["cpu"]), str(requests["memory"]))
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"model {name}: needs a source, and for {runtime} gpus (a whole number), cpu and memory"
        ) from error
