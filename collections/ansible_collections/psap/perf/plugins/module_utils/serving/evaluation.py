"""The accuracy of a served model: the invocation of lm-evaluation-harness, and its results by task."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeGuard

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import (
    CHAT,
    PATHS,
    Installation,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.installing import Installable
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.table import generator_of, generators

FILE = "evaluation.json"
_STDERR = "_stderr"


@dataclass(frozen=True, slots=True)
class Evaluator:
    """A program that evaluates the answers of models, and its installation."""

    name: str
    program: str
    installation: Installation


LM_EVAL = Evaluator(
    "lm-eval", "lm_eval", Installation(("lm-eval[api]==0.4.13",), "0.4.13", ("3.11", "3.12", "3.13"), 0.8, 3)
)


def installables() -> Mapping[str, Installable]:
    """Return the programs with a dedicated environment by their names: the load generators, and the evaluator.

    Raises:
        PerfError: As `generators`.
    """
    return {**generators(), LM_EVAL.name: LM_EVAL}


def installable_of(name: str) -> Installable:
    """Return the program *name*.

    Raises:
        UsageError: If it does not exist.
        PerfError: As `generators`.
    """
    return LM_EVAL if name == LM_EVAL.name else generator_of(name)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The arguments of the command serving_evaluate."""

    endpoint_url: str
    model: str
    api: str
    tasks: Mapping[str, float]
    tasks_path: str
    metric: str
    samples: int
    fewshot: int
    concurrency: int
    seed: int
    model_args: Mapping[str, Any]
    api_key: str
    program: str
    timeout: str
    model_name: str
    runtime_image: str
    real_server: bool

    @property
    def timeout_s(self) -> float:
        """Return the timeout of the program."""
        return seconds(self.timeout)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of a task, with its filter, such as ``exact_match,flexible-extract``."""

    metric: str
    value: float
    standard_error: float | None


def refuse_invalid(evaluation: Evaluation) -> None:
    """Refuse tasks and numbers that are invalid.

    Raises:
        UsageError: With one sentence about the first one.
    """
    if not evaluation.tasks:
        raise UsageError("tasks needs at least one task, such as {gsm8k: 0.6}")
    for task, minimum in evaluation.tasks.items():
        if isinstance(minimum, bool) or not isinstance(minimum, (int, float)) or not 0 <= minimum <= 1:
            raise UsageError(f"tasks: the minimum accuracy of {task} must be a number from 0 to 1, not {minimum!r}")
    for name in ("samples", "seed"):
        if getattr(evaluation, name) < 0:
            raise UsageError(f"{name} cannot be negative, but is {getattr(evaluation, name)}")
    if evaluation.concurrency < 1:
        raise UsageError(f"concurrency must be at least 1, not {evaluation.concurrency}")


def task_options(tasks: Collection[str], tasks_path: str) -> tuple[str, ...]:
    """Return the options of lm_eval that name the tasks and the directory of further ones.

    Raises:
        UsageError: If that directory does not exist.
    """
    if not tasks_path:
        return ("--tasks", ",".join(tasks))
    folder = Path(tasks_path).expanduser().absolute()
    if not folder.is_dir():
        raise UsageError(f"tasks_path: the directory {tasks_path} does not exist")
    return ("--tasks", ",".join(tasks), "--include_path", str(folder))


def arguments(evaluation: Evaluation, results: Path) -> tuple[str, ...]:
    """Return the arguments of lm_eval, which writes below the folder *results*."""
    refuse_invalid(evaluation)
    return ("run", *_options(evaluation, results))


def _options(evaluation: Evaluation, results: Path) -> Iterator[str]:
    model_args = {
        "base_url": f"{evaluation.endpoint_url}{PATHS[evaluation.api]}",
        "model": evaluation.model,
        "num_concurrent": evaluation.concurrency,
        # generated answers need no tokenizer
        "tokenizer_backend": "none",
        "tokenized_requests": False,
        **evaluation.model_args,
    }
    yield from ("--model", f"local-{PATHS[evaluation.api].removeprefix('/v1/').replace('/', '-')}")
    yield from ("--model_args", json.dumps(model_args))
    if evaluation.api == CHAT:
        yield "--apply_chat_template"
    yield from task_options(evaluation.tasks, evaluation.tasks_path)
    if evaluation.samples:
        yield from ("--limit", str(evaluation.samples))
    if evaluation.fewshot >= 0:
        yield from ("--num_fewshot", str(evaluation.fewshot))
    yield from ("--seed", str(evaluation.seed), "--output_path", str(results), "--log_samples")


def result_file(results: Path) -> Path:
    """Return the file of results that lm_eval wrote.

    Raises:
        DataQualityError: If it wrote none.
    """
    found = sorted(results.rglob("results_*.json"))
    if not found:
        raise DataQualityError("lm-eval left no results_*.json")
    return found[-1]


def documents(evaluation: Evaluation, results: Mapping[str, Any], lab: Lab | None) -> Iterator[dict[str, Any]]:
    """Yield the document of each task.

    Raises:
        DataQualityError: If the results lack a task, or its metric, or a lower value of the metric is better.
    """
    for task, minimum in evaluation.tasks.items():
        metrics = _metrics(results, task)
        chosen = _chosen(evaluation.metric, task, metrics)
        name = chosen.metric.partition(",")[0]
        if results.get("higher_is_better", {}).get(task, {}).get(name) is False:
            raise DataQualityError(f"task {task}: a lower {name} is better, so it is no accuracy; set metric")
        yield {
            "schema": "psap.perf/evaluation/1",
            "task": task,
            "metric": chosen.metric,
            "accuracy": chosen.value,
            "standard_error": chosen.standard_error,
            "minimum": float(minimum) or None,
            "samples": results.get("n-samples", {}).get(task, {}).get("effective"),
            "metrics": [asdict(metric) for metric in metrics],
            "model": evaluation.model_name or evaluation.model,
            "runtime_image": evaluation.runtime_image or None,
            "evaluator": f"lm-eval {results.get('lm_eval_version', '')}".strip(),
            "lab": lab.serving(is_real=evaluation.real_server).document() if lab else None,
        }


def _metrics(results: Mapping[str, Any], task: str) -> list[Metric]:
    """Return the numbers of a task, without its standard errors, in their order."""
    found: Mapping[str, Any] = results.get("results", {}).get(task, {})
    metrics = []
    for key, value in found.items():
        name, comma, filtered = key.partition(",")
        if comma and not name.endswith(_STDERR) and _is_number(value):
            error = found.get(f"{name}{_STDERR},{filtered}")
            metrics.append(Metric(key, value, error if _is_number(error) else None))
    if not metrics:
        raise DataQualityError(f"the results of lm-eval have no numbers of task {task}")
    return metrics


def _chosen(wanted: str, task: str, metrics: list[Metric]) -> Metric:
    for metric in metrics:
        if not wanted or wanted in (metric.metric, metric.metric.partition(",")[0]):
            return metric
    known = "; ".join(metric.metric for metric in metrics)
    raise DataQualityError(f"task {task} has no metric {wanted}; it has {known}")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
