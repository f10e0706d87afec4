"""What the flow llm_d downloads before its cells, and the pods that serve the model in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.merge_patch import merged
from ansible_collections.psap.perf.plugins.module_utils.base.quantities import format_quantity, parse_quantity
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods, most_gpus
from ansible_collections.psap.perf.plugins.module_utils.serving.flavors import Shape, shaped, stages

_GPU = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class LlmDPlan:
    """What the cells need.

    :param source: where the model is downloaded from, empty when each pod reads it from there.
    :param target: where it is downloaded to, as ``pvc://<claim>/<folder>``.
    :param gpus: the most that a pod has.
    :param pods: of each cell those that serve the model.
    """

    source: str
    target: str
    gpus: int
    pods: tuple[tuple[Pods, ...], ...]


def llm_d_plan(settings: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], manifest: Manifest) -> LlmDPlan:
    """What *settings* of the flow and the *cells* of its matrix come to.

    :param manifest: that of the LLMInferenceService before flavor, model and patch change it.
    :raises UsageError: for a flavor that is none, and a source that no claim holds.
    """
    pods = tuple(tuple(_pods(manifest, {**settings, **cell["values"]})) for cell in cells)
    gpus = most_gpus(pods)
    claim = settings["llm_d_claim"]
    if not claim:
        return LlmDPlan("", "", gpus, pods)
    uri = settings["llm_d_model_uri"]
    source, target = (
        shaped(manifest, shape)["spec"]["model"]["uri"]
        for shape in (Shape(model_uri=uri), Shape(model_uri=uri, model_claim=claim))
    )
    return LlmDPlan(source, target, gpus, pods)


def _pods(manifest: Manifest, values: Mapping[str, Any]) -> list[Pods]:
    """Those of what decodes, and of what prefills if that is apart."""
    served = merged(shaped(manifest, Shape(flavor=values["llm_d_flavor"])), values["llm_d_patch"])
    return [_pods_of(stage) for stage in stages(served)]


def _pods_of(stage: Mapping[str, Any]) -> Pods:
    containers = (stage.get("template") or {}).get("containers") or []
    asked = {name: sum((_requested(one, name) for one in containers), Fraction(0)) for name in ("cpu", "memory", _GPU)}
    cpu, memory = (format_quantity(name, asked[name]) for name in ("cpu", "memory"))
    return Pods(stage.get("replicas", 1), cpu, memory, int(asked[_GPU]))


def _requested(container: Mapping[str, Any], name: str) -> Fraction:
    """What it requests of a resource, which is its limit where it does not say."""
    resources = container.get("resources") or {}
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    return parse_quantity(requests.get(name, limits.get(name, 0)))
