"""The model that the flow llm_d downloads before its cells, and the pods and loads of each cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.merge_patch import merged
from ansible_collections.psap.perf.plugins.module_utils.base.quantities import format_quantity, parse_quantity
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods, most_gpus
from ansible_collections.psap.perf.plugins.module_utils.serving.flavors import (
    AUTH,
    Shape,
    apply_shape,
    requires_token,
    stages,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.llm_d_loads import llm_d_loads

_GPU = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class Download:
    """A model to download from *source* to *folder* of the claim."""

    source: str
    folder: str


@dataclass(frozen=True, slots=True)
class LlmDPlan:
    """The requirements of the cells.

    Attributes:
        downloads: The models that are downloaded before the cells; none if each pod reads them from their source.
        gpus: The maximum of a pod.
        auth: Whether Open Data Hub requires a token in requests of any cell.
        pods: The pods that serve the model, for each cell.
        loads: The arguments of each load by the command serving_run_load, for each cell.
    """

    downloads: tuple[Download, ...]
    gpus: int
    auth: bool
    pods: tuple[tuple[Pods, ...], ...]
    loads: tuple[tuple[Mapping[str, Any], ...], ...]


def llm_d_plan(settings: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], manifest: Manifest) -> LlmDPlan:
    """Return the plan for the flow's *settings* and the *cells* of its matrix.

    Args:
        manifest: The LLMInferenceService before flavor, model and patch change it.

    Raises:
        UsageError: If a flavor is invalid or has no scheduler to configure, a model of its source cannot be in a
            claim, a required token is missing, cells differ in a model that they do not deploy, or a generator
            cannot create a load.
    """
    each_cell = [{**settings, **cell["values"]} for cell in cells]
    services = [_service(manifest, values) for values in each_cell]
    auth = any(map(requires_token, services))
    if auth and not settings["llm_d_api_key"]:
        raise UsageError(
            f"llm_d_api_key: requests need a token, since llm_d_auth is true or the annotation {AUTH} is not false; "
            "pass a secret, such as file:llm-d.token"
        )
    loads = tuple(map(llm_d_loads, each_cell))
    if not settings["llm_d_deploy"]:
        if any(each != services[0] for each in services):
            raise UsageError("llm_d_deploy is false, but the cells of the matrix deploy different models; name one")
        return LlmDPlan((), 0, auth, ((),) * len(services), loads)
    pods = tuple(tuple(one for stage in stages(each) for one in _pods_of(stage)) for each in services)
    downloads = tuple(dict.fromkeys(_download(manifest, values) for values in each_cell if values["llm_d_claim"]))
    return LlmDPlan(downloads, most_gpus(pods), auth, pods, loads)


def _download(manifest: Manifest, values: Mapping[str, Any]) -> Download:
    uri, claim = values["llm_d_model_uri"], values["llm_d_claim"]
    source, target = (
        apply_shape(manifest, shape)["spec"]["model"]["uri"]
        for shape in (Shape(model_uri=uri), Shape(model_uri=uri, model_claim=claim))
    )
    return Download(source, target.removeprefix(f"pvc://{claim}/"))


def _service(manifest: Manifest, values: Mapping[str, Any]) -> Manifest:
    """Return the LLMInferenceService of a cell, as far as its settings are known before the cells."""
    shape = Shape(
        values["llm_d_flavor"],
        values["llm_d_model_uri"],
        annotations=values["llm_d_annotations"],
        max_model_len=values["llm_d_max_model_len"],
        # the contents of the file are read later
        scheduler_config={"file": values["llm_d_scheduler_config"]} if values["llm_d_scheduler_config"] else {},
        auth=values["llm_d_auth"],
    )
    return merged(apply_shape(manifest, shape), values["llm_d_patch"])


def _pods_of(stage: Mapping[str, Any]) -> Iterator[Pods]:
    """Yield the pods of a stage: its replicas, and their workers if the stage spans several nodes."""
    replicas, template, worker = stage.get("replicas", 1), stage.get("template"), stage.get("worker")
    if not worker:
        yield _pods(replicas, template)
        return
    yield _pods(replicas, template or worker)
    workers = _size(stage.get("parallelism") or {}) - 1
    if workers:
        yield _pods(replicas * workers, worker)


def _size(parallelism: Mapping[str, Any]) -> int:
    """Return the number of pods of a replica, computed like KServe."""
    data, local = parallelism.get("data") or 0, parallelism.get("dataLocal") or 0
    if data or local:
        return int(max(data // max(local, 1), 1))
    return int(parallelism.get("pipeline") or 1)


def _pods(count: int, template: Mapping[str, Any] | None) -> Pods:
    containers = (template or {}).get("containers") or []
    asked = {name: sum((_requested(one, name) for one in containers), Fraction(0)) for name in ("cpu", "memory", _GPU)}
    cpu, memory = (format_quantity(name, asked[name]) for name in ("cpu", "memory"))
    return Pods(count, cpu, memory, int(asked[_GPU]))


def _requested(container: Mapping[str, Any], name: str) -> Fraction:
    """Return the container's request for a resource, by default its limit."""
    resources = container.get("resources") or {}
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    return parse_quantity(requests.get(name, limits.get(name, 0)))
