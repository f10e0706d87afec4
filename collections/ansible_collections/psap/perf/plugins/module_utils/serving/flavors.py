# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Flavors of an LLMInferenceService: how requests are routed, and how many GPUs and replicas its stages have.

A flavor is `BASE[-tpN|-dtpN][-xN][-ptpN][-pxN]`, in any order after the base: the tensor parallelism and the replicas
of the decode stage, and both of the prefill stage, whose replicas are per decode replica. TOPSAIL's llm-d project has
the same format.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.merge_patch import merged
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.serving.claims import in_claim

ROUTERS: Mapping[str, Mapping[str, Any]] = {
    "simple": {"route": {}, "gateway": {}},
    "intelligentrouting": {"route": {}, "gateway": {}, "scheduler": {}},
    "pd": {"route": {}, "gateway": {}, "scheduler": {}},
}
"""The router of each base. Without a scheduler, the Service distributes requests."""
DISAGGREGATED = "pd"
_PARTS = {"tp": "tensor", "dtp": "tensor", "x": "replicas", "ptp": "prefill_tensor", "px": "prefill_replicas"}
_PART = re.compile(r"(dtp|tp|x|ptp|px)([1-9][0-9]*)")
_FORM = "BASE[-tpN|-dtpN][-xN][-ptpN][-pxN]"
_GPU = "nvidia.com/gpu"
_CONTAINER = "main"
_VLLM_ARGS = "VLLM_ADDITIONAL_ARGS"
"""Environment variable with arguments of vLLM; the shell in OpenShift AI's templates of containers expands it."""
AUTH = "security.opendatahub.io/enable-auth"
"""Annotation of a service: Open Data Hub requires a token in requests unless it is ``"false"``."""


@dataclass(frozen=True, slots=True)
class Flavor:
    """The parts of a flavor; None if the manifest's value applies.

    Attributes:
        tensor: GPUs over which each replica's layers are split.
        prefill_tensor: The same of the prefill stage, if it is separate.
        prefill_replicas: Replicas of the prefill stage, for each of *replicas*.
    """

    base: str
    tensor: int | None = None
    replicas: int | None = None
    prefill_tensor: int | None = None
    prefill_replicas: int | None = None


def parse_flavor(text: str) -> Flavor:
    """Parse a flavor.

    Raises:
        UsageError: If it is invalid; the message has the wrong part and the format.
    """
    base, *parts = text.split("-")
    if base not in ROUTERS:
        raise UsageError(
            f"flavor {text!r} begins with none of {', '.join(ROUTERS)}{did_you_mean(base, ROUTERS)}; write {_FORM}"
        )
    found: dict[str, int] = {}
    for part in parts:
        match = _PART.fullmatch(part)
        if match is None:
            raise UsageError(f"flavor {text!r}: {part!r} is not a valid part; write {_FORM}, each N at least 1")
        name = _PARTS[match[1]]
        if name in found:
            raise UsageError(f"flavor {text!r} repeats the part of {part!r}")
        if name.startswith("prefill") and base != DISAGGREGATED:
            raise UsageError(
                f"flavor {text!r}: {part!r} is for a separate prefill stage, which only {DISAGGREGATED} has"
            )
        found[name] = int(match[2])
    return Flavor(base, **found)


@dataclass(frozen=True, slots=True)
class Shape:
    """Changes of a manifest; empty fields leave the manifest's values.

    Attributes:
        flavor: In the format of `parse_flavor`.
        model_uri: Source of the model.
        model_name: Its name in requests.
        model_claim: PersistentVolumeClaim with the model, in a folder named after its source.
        annotations: Annotations of the service and its pods.
        pod: Fields of the templates of all pods that serve the model, such as ``nodeSelector``.
        labels: Labels of the service.
        pull_secrets: Names of the Secrets with which all pods pull their images.
        vllm_args: Arguments of vLLM, after those of the manifest.
        vllm_args_in: ``environment`` for OpenShift AI's templates of containers, ``arguments`` for KServe's.
        max_model_len: Maximum tokens of a prompt and its answer; 0 leaves vLLM's.
        scheduler_config: EndpointPickerConfig of the scheduler.
        auth: Whether Open Data Hub requires a token in requests; the manifest's annotation overrides False.
        name: Name of the service.
        namespace: Namespace of the service.
    """

    flavor: str = ""
    model_uri: str = ""
    model_name: str = ""
    model_claim: str = ""
    annotations: Mapping[str, Any] = field(default_factory=dict)
    pod: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, Any] = field(default_factory=dict)
    pull_secrets: Sequence[str] = ()
    vllm_args: Sequence[str] = ()
    vllm_args_in: str = "environment"
    max_model_len: int = 0
    scheduler_config: Mapping[str, Any] = field(default_factory=dict)
    auth: bool = False
    name: str = ""
    namespace: str = ""


def apply_shape(service: Manifest, shape: Shape) -> Manifest:
    """Return the manifest of an LLMInferenceService with the changes of *shape*.

    Raises:
        UsageError: If the flavor is invalid or has no scheduler to configure, or a model of this source cannot be in a
            claim.
    """
    manifest = in_flavor(service, parse_flavor(shape.flavor)) if shape.flavor else deepcopy(service)
    model = {name: value for name, value in (("uri", shape.model_uri), ("name", shape.model_name)) if value}
    metadata = {name: value for name, value in (("name", shape.name), ("namespace", shape.namespace)) if value}
    labels = {"labels": _texts(shape.labels)} if shape.labels else {}
    changes = {
        "metadata": {**metadata, **labels, "annotations": _annotations(manifest, shape)},
        "spec": {"model": model} if model else {},
    }
    manifest = merged(manifest, changes)
    for stage in stages(manifest):
        _shape_pods(stage, shape)
    _shape_scheduler(manifest, shape)
    if not shape.model_claim:
        return manifest
    uri = (manifest["spec"].get("model") or {}).get("uri", "")
    return merged(manifest, {"spec": {"model": {"uri": in_claim(uri, shape.model_claim)}}})


def requires_token(service: Manifest) -> bool:
    """Return whether Open Data Hub requires a token in requests to an LLMInferenceService."""
    annotations = service.get("metadata", {}).get("annotations") or {}
    return str(annotations.get(AUTH, "true")).lower() != "false"


def _annotations(service: Manifest, shape: Shape) -> dict[str, str]:
    """Return the service's annotations as texts: YAML and the command line convert some to booleans and numbers."""
    given = {**(service.get("metadata", {}).get("annotations") or {}), **_texts(shape.annotations)}
    return {**given, AUTH: "true" if shape.auth else str(given.get(AUTH, "false"))}


def _texts(annotations: Mapping[str, Any]) -> dict[str, str]:
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in annotations.items()}


def _shape_pods(stage: dict[str, Any], shape: Shape) -> None:
    """Set annotations and fields of a stage's pods, including workers below a leader."""
    if shape.annotations:
        stage["annotations"] = {**(stage.get("annotations") or {}), **_texts(shape.annotations)}
    length = [f"--max-model-len={shape.max_model_len}"] if shape.max_model_len else []
    arguments = [*shape.vllm_args, *length]
    pod = {**shape.pod, **_pull_secrets(shape)}
    if not pod and not arguments:
        return
    for name in ("template", *(["worker"] if stage.get("worker") else [])):
        stage[name] = merged(stage.get(name), pod)
        if arguments:
            _append_vllm_args(_main_container(stage[name]), arguments, shape.vllm_args_in)


def _pull_secrets(shape: Shape) -> dict[str, Any]:
    return {"imagePullSecrets": [{"name": name} for name in shape.pull_secrets]} if shape.pull_secrets else {}


def _append_vllm_args(container: dict[str, Any], arguments: Sequence[str], where: str) -> None:
    if where == "arguments":
        container["args"] = [*container.get("args", []), *arguments]
        return
    environment = container.setdefault("env", [])
    given = next((one for one in environment if one["name"] == _VLLM_ARGS), None)
    if given is None:
        given = {"name": _VLLM_ARGS, "value": ""}
        environment.append(given)
    given["value"] = f"{given['value']} {shlex.join(arguments)}".strip()


def _main_container(template: dict[str, Any]) -> dict[str, Any]:
    """Return the container of a pod template in which the model server runs; it is added if it is missing."""
    containers: list[dict[str, Any]] = template.setdefault("containers", [])
    main = next((one for one in containers if one.get("name") == _CONTAINER), None)
    if main is None:
        main = {"name": _CONTAINER}
        containers.append(main)
    return main


def _shape_scheduler(service: Manifest, shape: Shape) -> None:
    """Set configuration and fields of the router's scheduler."""
    scheduler = (service["spec"].get("router") or {}).get("scheduler")
    if scheduler is None:
        if shape.scheduler_config:
            raise UsageError(
                f"flavor {shape.flavor!r} has no scheduler to configure; those of intelligentrouting and pd have one"
            )
        return
    if shape.scheduler_config:
        scheduler["config"] = {"inline": dict(shape.scheduler_config)}
    if shape.pull_secrets:
        # the template is merged into KServe's by the names of its containers
        scheduler["template"] = merged({"containers": [], **(scheduler.get("template") or {})}, _pull_secrets(shape))


def stages(service: Manifest) -> list[dict[str, Any]]:
    """Return the stages of an LLMInferenceService, decode and prefill, which have replicas and a template."""
    spec = service["spec"]
    return [spec, *([spec["prefill"]] if spec.get("prefill") else [])]


def in_flavor(service: Manifest, flavor: Flavor) -> Manifest:
    """Return the manifest of an LLMInferenceService with the values of a flavor."""
    result = deepcopy(service)
    spec = result.setdefault("spec", {})
    spec["router"] = {**ROUTERS[flavor.base], **_kept_of_router(spec, flavor)}
    if flavor.base == DISAGGREGATED:
        prefill = spec.setdefault("prefill", {})
        if "template" in spec:
            prefill.setdefault("template", deepcopy(spec["template"]))
        for_each = flavor.prefill_replicas
        _scale(prefill, flavor.prefill_tensor, for_each and for_each * (flavor.replicas or 1))
    else:
        spec.pop("prefill", None)
    _scale(spec, flavor.tensor, flavor.replicas)
    return result


def _kept_of_router(spec: Mapping[str, Any], flavor: Flavor) -> dict[str, Any]:
    """Return the manifest's values for the parts of the router that the flavor has."""
    given = spec.get("router") or {}
    return {name: given[name] for name in ROUTERS[flavor.base] if given.get(name)}


def _scale(stage: dict[str, Any], tensor: int | None, replicas: int | None) -> None:
    if replicas is not None:
        stage["replicas"] = replicas
    if tensor is None:
        return
    stage["parallelism"] = {**stage.get("parallelism", {}), "tensor": tensor}
    resources = _main_container(stage.setdefault("template", {})).setdefault("resources", {})
    for kind in ("limits", "requests"):
        resources[kind] = {**resources.get(kind, {}), _GPU: str(tensor)}
