"""Render a template once for many workloads, and substitute name and index in its bytes for each of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import jinja2
import jinja2.meta
import jinja2.sandbox
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.bounded_yaml import load_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.patching import patched
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import (
    gangs,
    manifests,
    runai,
    topology,
    training_runtimes,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.device_claims import PodClaims
from jinja2 import nodes

_NAME_MARK = "psap-perf-name-mark"
_INDEX_MARK = "psap-perf-index-mark"
_PER_WORKLOAD = ("name", "index")
_PROBE = 7


def template_of(kind: str) -> str:
    """Return the file name of the template of a kind, shipped or in a user's folder."""
    return f"{kind.lower()}.yml.j2"


@dataclass(frozen=True, slots=True)
class WorkloadPlan:
    """A template, and its variables besides ``name``, ``index`` and ``namespace``."""

    source: str
    origin: str
    namespace: str
    pods: int
    variables: Mapping[str, Any]
    pod_annotations: Mapping[str, str]
    # applied to the rendered manifest
    patch: Mapping[str, Any] = field(default_factory=dict)
    # the folder of included templates; or their texts, by name
    folder: Path | None = None
    parts: Mapping[str, str] | None = None
    # API version of the workloads' pod groups; empty without gangs
    pod_groups: str = ""
    # the scheduler of the pods; empty for the template's
    scheduler_name: str = ""
    # the domain of all pods of a workload, if any
    placement: topology.Placement | None = None
    # the value of the workloads' PriorityClass, if known
    priority: int | None = None
    # claims of devices, as DeviceClaim.plan returns them
    claims: Sequence[Mapping[str, Any]] = ()
    # whether the GPUs of pods become a claim
    claims_gpus: bool = False


class Workloads:
    """The workloads of one submission, by index."""

    def __init__(self, plan: WorkloadPlan, submission: Submission) -> None:
        """Raise UsageError if the template cannot be rendered, or does not render a Kubernetes object."""
        self.plan = plan
        self.submission = submission
        self.namespace = plan.namespace
        self._environment = _environment(plan)
        self._template = _compile(self._environment, plan)
        self._claims = PodClaims(submission.identity, plan.claims, plan.claims_gpus)
        first = self._prepared(submission.name(0), 0)
        self.runtime = self._shared_runtime()
        self.api_version = str(first["apiVersion"])
        self.kind = str(first["kind"])
        self.size = self._claims.size_of(first, plan.pods)
        if self.kind == "Pod" and plan.pods != 1:
            raise UsageError(f"pods is {plan.pods}, but a workload of kind Pod is one pod; choose another kind")
        self.queue = _queue_of(first)
        self._priority_class = manifests.priority_class_of(first)
        skeleton = self._skeleton()
        self._alike = skeleton is not None
        self._body = skeleton or self._rendered

    def manifest(self, index: int) -> dict[str, Any]:
        """Return the manifest of the workload with this index, as it is sent."""
        document: dict[str, Any] = json.loads(self.body(index))
        return document

    def portable_plan(self) -> WorkloadPlan:
        """Return the plan with the texts of included templates, for a process without access to their folder.

        Raises:
            UsageError: If the template computes the name of an included one.
        """
        parts: dict[str, str] = {}
        _gather_parts(self._environment, self.plan.source, self.plan.origin, parts)
        return replace(self.plan, folder=None, parts=parts)

    def name(self, index: int) -> str:
        """Return the name of the workload with this index."""
        return self.submission.name(index)

    def body(self, index: int) -> bytes:
        """Return the manifest of one workload as JSON."""
        return self._body(index)

    def companions(self, index: int) -> list[dict[str, Any]]:
        """Return the objects to create before a workload: its pod group, and the claims that its pods share."""
        name = self.name(index)
        labels = self.submission.labels(index, name)
        metadata = {"name": name, "namespace": self.namespace, "labels": labels}
        claims = list(self._claims.shared(metadata))
        if not self.plan.pod_groups:
            return claims
        workload = {"metadata": metadata}
        level = gangs.level_of(self.plan.pod_groups, self.plan.placement, queued=self.queue is not None)
        group = gangs.pod_group(workload, self.size.pods, self._priority_class, self.plan.pod_groups, level)
        return [group, *claims]

    def claim_templates(self, indices: Iterable[int]) -> Iterator[dict[str, Any]]:
        """Yield the templates of the claims of the workloads with these indices, some of them several times.

        Workloads that differ by more than name and index are rendered one by one, as their GPUs may differ.
        """
        each_differs = self.plan.claims_gpus and not self._alike
        for index in indices if each_differs else (0,):
            prepared = self._prepared(self.submission.name(index), index)
            yield from self._claims.templates(prepared, self.submission.common_labels)

    def _rendered(self, index: int) -> bytes:
        return json.dumps(self._whole(index), separators=(",", ":")).encode()

    def _whole(self, index: int) -> dict[str, Any]:
        return self._render(self.submission.name(index), index)

    def _render(self, name: str, index: int | str) -> dict[str, Any]:
        return self._detached(name, index)[0]

    def _detached(self, name: str, index: int | str) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return the manifest as it is sent, and the runtime that it names if it is a TrainJob."""
        complete = self._prepared(name, index)
        self._claims.join(complete, name)
        return training_runtimes.detached(complete, self.submission)

    def _shared_runtime(self) -> dict[str, Any] | None:
        """Return the runtime that all TrainJobs name; None for other kinds."""
        first, second = (self._detached(self.submission.name(index), index)[1] for index in range(2))
        if first != second:
            raise UsageError(
                "TrainJobs share their pod template, so that it cannot contain their name or index, and their pods "
                "cannot join a gang, share a claim or be placed without a queue; choose JobSet"
            )
        return first

    def _prepared(self, name: str, index: int | str) -> dict[str, Any]:
        """Return the manifest before its pods claim devices."""
        plan = self.plan
        try:
            text = self._template.render({**plan.variables, "namespace": plan.namespace, "name": name, "index": index})
            manifest = load_yaml(text)
        except jinja2.UndefinedError as error:
            raise UsageError(f"{plan.origin}: {error.message}; it may use: {self._variable_names()}") from error
        except (jinja2.TemplateError, yaml.YAMLError, TypeError, ValueError) as error:
            raise UsageError(f"{plan.origin} cannot be rendered: {error}") from error
        if not isinstance(manifest, dict):
            raise UsageError(f"{plan.origin} renders no Kubernetes object, but a {type(manifest).__name__}")
        complete: dict[str, Any] = patched(manifest, plan.patch)
        manifests.prepare(
            complete,
            name=name,
            namespace=plan.namespace,
            labels=self.submission.labels(index, name),
            annotations=plan.pod_annotations,
        )
        if plan.pod_groups:
            gangs.join(complete, manifests.pod_templates(complete), plan.pod_groups)
        if plan.scheduler_name:
            manifests.set_scheduler(complete, plan.scheduler_name)
        queued = _queue_of(complete) is not None
        if plan.placement and not gangs.level_of(plan.pod_groups, plan.placement, queued=queued):
            topology.place(complete, manifests.pod_templates(complete), plan.placement, queued=queued)
        return complete

    def _variable_names(self) -> str:
        return ", ".join(sorted({*self.plan.variables, "namespace", *_PER_WORKLOAD}))

    def _skeleton(self) -> Callable[[int], bytes] | None:
        """Return a rendering by substitution, about a hundred times faster than Jinja2 and YAML for each workload.

        None if its result would differ: the template computes with name or index, or has the index as a number.
        """
        if _computes_per_workload(self._environment, self.plan.source):
            return None
        text = json.dumps(self._render(_NAME_MARK, _INDEX_MARK), separators=(",", ":"))
        pieces = [piece.split(_INDEX_MARK) for piece in text.split(_NAME_MARK)]

        def substitute(index: int) -> bytes:
            number = str(index)
            return self.submission.name(index).join(number.join(piece) for piece in pieces).encode()

        same = json.loads(substitute(_PROBE)) == self._whole(_PROBE)
        return substitute if same else None


def _environment(plan: WorkloadPlan) -> jinja2.Environment:
    in_folder = jinja2.FileSystemLoader(plan.folder) if plan.folder else None
    environment = jinja2.sandbox.SandboxedEnvironment(
        loader=in_folder if plan.parts is None else jinja2.DictLoader(plan.parts),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["to_json"] = json.dumps
    environment.globals["refuse"] = _refuse
    return environment


def _refuse(message: str) -> NoReturn:
    """Raise an error; a template calls this for values that it does not support."""
    raise UsageError(message)


def _queue_of(manifest: Mapping[str, Any]) -> str | None:
    """Return the queue of a workload: Kueue's, or the Run:ai project's."""
    metadata = manifest["metadata"]
    if runai.is_runai(manifest):
        return runai.project_of(metadata["namespace"])
    return (metadata.get("labels") or {}).get(manifests.KUEUE_QUEUE)


def _compile(environment: jinja2.Environment, plan: WorkloadPlan) -> jinja2.Template:
    try:
        return environment.from_string(plan.source)
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"{plan.origin}:{error.lineno}: {error.message}") from error


def _computes_per_workload(environment: jinja2.Environment, source: str) -> bool:
    """Return whether the template, or an included one, does more with ``name`` or ``index`` than print it."""
    tree = environment.parse(source)
    used = [node for node in tree.find_all(nodes.Name) if node.name in _PER_WORKLOAD]
    printed = [
        node
        for output in tree.find_all(nodes.Output)
        for node in output.nodes
        if isinstance(node, nodes.Name) and node.name in _PER_WORKLOAD
    ]
    if len(used) != len(printed):
        return True
    return any(_part_computes(environment, part) for part in jinja2.meta.find_referenced_templates(tree))


def _gather_parts(environment: jinja2.Environment, source: str, origin: str, parts: dict[str, str]) -> None:
    for name in jinja2.meta.find_referenced_templates(environment.parse(source)):
        if name is None or environment.loader is None:
            raise UsageError(f"{origin} computes the name of an included template; several submitters need a constant")
        if name not in parts:
            parts[name] = environment.loader.get_source(environment, name)[0]
            _gather_parts(environment, parts[name], origin, parts)


def _part_computes(environment: jinja2.Environment, name: str | None) -> bool:
    if name is None or environment.loader is None:
        return True  # the name of the template is computed
    source, _path, _fresh = environment.loader.get_source(environment, name)
    return _computes_per_workload(environment, source)
