"""Turns a pipeline, in the compiled format of the KFP SDK 2, into a Workflow of Argo."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from perflab.cluster.api import Document
from perflab.files.bounded_yaml import load_yaml

RUN_ID = "pipeline/runid"
RUN_NAME = "pipelines.kubeflow.org/run_name"
APPLICATION = "lab.psap.perf/application"
_INPUT = re.compile(r"\{\{\$\.inputs\.parameters\['([^']+)'\]\}\}")
# fields of a task that would change what it does
_REFUSED = ("triggerPolicy", "parameterIterator", "artifactIterator", "iteratorPolicy")


class PipelineError(ValueError):
    """A pipeline is invalid, or uses what the lab does not emulate."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run to create, of the application of a namespace; *parameters* are those of the pipeline."""

    id: str
    name: str
    namespace: str
    application: str
    parameters: Mapping[str, Any]


def read_pipeline(text: str) -> Document:
    """Return the first document of a compiled pipeline. Raises PipelineError if it is none."""
    try:
        found = load_yaml(text.partition("\n---")[0])
    except yaml.YAMLError as error:
        raise PipelineError(f"the pipeline is no YAML: {error}") from error
    return check_pipeline(found)


def check_pipeline(found: Any) -> Document:
    """Return a pipeline that a Workflow can be made of. Raises PipelineError if it is none."""
    if not isinstance(found, dict) or not str(found.get("schemaVersion", "")).startswith("2."):
        raise PipelineError("the pipeline has no schemaVersion 2: compile it with the KFP SDK 2")
    _templates(found, {})
    return found


def workflow(pipeline: Document, run: Run) -> Document:
    """Return the Workflow of a run. Raises PipelineError if the run has no value for a parameter."""
    name = re.sub(r"[^a-z0-9]+", "-", str(pipeline["pipelineInfo"]["name"]).lower()).strip("-")
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {
            "generateName": f"{name[:40]}-",
            "namespace": run.namespace,
            "labels": {RUN_ID: run.id, APPLICATION: run.application},
            "annotations": {RUN_NAME: run.name, "pipelines.kubeflow.org/v2_pipeline": "true"},
        },
        "spec": {
            "entrypoint": "root",
            "serviceAccountName": f"pipeline-runner-{run.application}",
            "templates": _templates(pipeline, _parameters(pipeline, run)),
        },
    }


def _parameters(pipeline: Document, run: Run) -> dict[str, Any]:
    declared = (pipeline["root"].get("inputDefinitions") or {}).get("parameters") or {}
    unknown = run.parameters.keys() - declared.keys()
    if unknown:
        raise PipelineError(f"the pipeline has no parameters {', '.join(sorted(unknown))}")
    defaults = {name: each["defaultValue"] for name, each in declared.items() if "defaultValue" in each}
    found = {**defaults, **run.parameters}
    missing = [name for name, each in declared.items() if name not in found and not each.get("isOptional")]
    if missing:
        raise PipelineError(f"the run has no values for the parameters {', '.join(missing)}")
    return found


def _templates(pipeline: Document, parameters: Mapping[str, Any]) -> list[Document]:
    try:
        tasks: dict[str, Document] = pipeline["root"]["dag"]["tasks"]
        steps = [{"name": name, "template": name, **_dependencies(task)} for name, task in tasks.items()]
        containers = [
            {"name": name, "container": _container(pipeline, name, task, parameters)} for name, task in tasks.items()
        ]
        str(pipeline["pipelineInfo"]["name"])
    except (KeyError, TypeError, AttributeError) as error:
        raise PipelineError(f"the pipeline is incomplete: {error}") from error
    return [{"name": "root", "dag": {"tasks": steps}}, *containers]


def _dependencies(task: Document) -> Document:
    before = task.get("dependentTasks") or []
    return {"dependencies": before} if before else {}


def _container(pipeline: Document, name: str, task: Document, parameters: Mapping[str, Any]) -> Document:
    refused = [field for field in _REFUSED if field in task]
    if refused:
        raise PipelineError(f"the lab does not emulate {refused[0]} of the task {name}")
    component = pipeline["components"][task["componentRef"]["name"]]
    if "executorLabel" not in component:
        raise PipelineError(f"the lab does not emulate pipelines in pipelines, as the task {name}")
    container = pipeline["deploymentSpec"]["executors"][component["executorLabel"]]["container"]
    values = {key: _value(name, key, each, parameters) for key, each in _inputs(task).items()}
    declared = (component.get("inputDefinitions") or {}).get("parameters") or {}
    defaults = {key: each.get("defaultValue", "") for key, each in declared.items()}
    found = {
        part: [_filled(text, {**defaults, **values}) for text in container.get(part) or []]
        for part in ("command", "args")
    }
    return {
        "image": container["image"],
        **{part: texts for part, texts in found.items() if texts},
        **({"env": container["env"]} if container.get("env") else {}),
    }


def _inputs(task: Document) -> dict[str, Document]:
    inputs = task.get("inputs") or {}
    if inputs.get("artifacts"):
        raise PipelineError("the lab does not emulate artifacts of tasks")
    return inputs.get("parameters") or {}


def _value(task: str, name: str, source: Document, parameters: Mapping[str, Any]) -> Any:
    if "runtimeValue" in source:
        return source["runtimeValue"]["constant"]
    if "componentInputParameter" in source:
        return parameters.get(source["componentInputParameter"], "")
    raise PipelineError(f"the lab does not emulate the parameter {name} of the task {task}, a result of another task")


def _filled(text: str, values: Mapping[str, Any]) -> str:
    return _INPUT.sub(lambda found: str(values.get(found[1], "")), text)
