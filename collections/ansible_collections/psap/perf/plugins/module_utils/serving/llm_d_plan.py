"""What the flow llm_d downloads before its cells, and the pods that serve the model in each."""

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
    requires_token,
    shaped,
    stages,
)

_GPU = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class LlmDPlan:
    """What the cells need.

    :param source: where the model is downloaded from, empty when each pod reads it from there.
    :param target: where it is downloaded to, as ``pvc://<claim>/<folder>``.
    :param gpus: the most that a pod has.
    :param auth: whether Open Data Hub requires a token in requests of a cell.
    :param pods: of each cell those that serve the model.
    """

    source: str
    target: str
    gpus: int
    auth: bool
    pods: tuple[tuple[Pods, ...], ...]


def llm_d_plan(settings: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], manifest: Manifest) -> LlmDPlan:
    """What *settings* of the flow and the *cells* of its matrix come to.

    :param manifest: that of the LLMInferenceService before flavor, model and patch change it.
    :raises UsageError: for a flavor that is none, a source that no claim holds, and requests without the token that
        they need.
    """
    services = [_service(manifest, {**settings, **cell["values"]}) for cell in cells]
    pods = tuple(tuple(one for stage in stages(each) for one in _pods_of(stage)) for each in services)
    gpus, auth = most_gpus(pods), any(map(requires_token, services))
    if auth and not settings["llm_d_api_key"]:
        raise UsageError(
            f"llm_d_api_key: requests need a token, for llm_d_auth is true or the annotation {AUTH} is not false; name "
            "its secret, such as file:llm-d.token"
        )
    claim = settings["llm_d_claim"]
    if not claim:
        return LlmDPlan("", "", gpus, auth, pods)
    uri = settings["llm_d_model_uri"]
    source, target = (
        shaped(manifest, shape)["spec"]["model"]["uri"]
        for shape in (Shape(model_uri=uri), Shape(model_uri=uri, model_claim=claim))
    )
    return LlmDPlan(source, target, gpus, auth, pods)


def _service(manifest: Manifest, values: Mapping[str, Any]) -> Manifest:
    """The LLMInferenceService of a cell, as far as its pods and its authentication depend on it."""
    shape = Shape(values["llm_d_flavor"], annotations=values["llm_d_annotations"], auth=values["llm_d_auth"])
    return merged(shaped(manifest, shape), values["llm_d_patch"])


def _pods_of(stage: Mapping[str, Any]) -> Iterator[Pods]:
    """The pods of a stage: its replicas, each of which has workers below it where the stage is on several nodes."""
    replicas, template, worker = stage.get("replicas", 1), stage.get("template"), stage.get("worker")
    if not worker:
        yield _pods(replicas, template)
        return
    yield _pods(replicas, template or worker)
    workers = _size(stage.get("parallelism") or {}) - 1
    if workers:
        yield _pods(replicas * workers, worker)


def _size(parallelism: Mapping[str, Any]) -> int:
    """How many pods a replica has, as KServe computes it."""
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
    """What it requests of a resource, which is its limit where it does not say."""
    resources = container.get("resources") or {}
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    return parse_quantity(requests.get(name, limits.get(name, 0)))
