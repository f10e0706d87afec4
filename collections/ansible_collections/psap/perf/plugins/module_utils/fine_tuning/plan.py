"""The downloads and trainings of the flow fine_tuning, from its settings, before anything is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.sources import (
    Source,
    find_dataset,
    find_model,
    read_sources,
)
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods, most_gpus

MULTI = "multi_model"
REFERENCE, CONCURRENT = "reference", "concurrent"
_PREFIX = "fine_tuning_"
# the cell's number, a part of the model's name and the replica's number follow; the command accepts 50
_LONGEST_NAME = 20
_LONGEST_MODEL = 20


@dataclass(frozen=True, slots=True)
class Download:
    """A download into the claim, below *storage_dir*."""

    name: str
    source: str
    storage_dir: str
    creds: str
    image: str


@dataclass(frozen=True, slots=True)
class Training:
    """One job: the arguments of its command that are not settings.

    *phase* distinguishes passes of a cell and is usually empty.
    """

    name: str
    phase: str
    model_name: str
    dataset_name: str
    dataset_transform: str
    dataset_response_template: str
    container_image: str
    gpu: int
    hyper_parameters: Mapping[str, Any]
    use_secondary_nic: Sequence[str]


@dataclass(frozen=True, slots=True)
class CellPlan:
    """A cell of the matrix and its jobs; *rate* is the jobs per second in mode ``many_model``, 0 for no limit."""

    index: int
    name: str
    values: Mapping[str, Any]
    trainings: tuple[Training, ...]
    rate: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan; each download once. *gpus* is the maximum of a pod of any job, 0 if no job trains on GPUs.

    *pods* are each cell's concurrent pods.
    """

    downloads: tuple[Download, ...]
    cells: tuple[CellPlan, ...]
    gpus: int
    pods: tuple[tuple[Pods, ...], ...]


def make_plan(settings: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> Plan:
    """Return the jobs of each of *cells* (``index``, ``name``, ``values``), and what they need in the claim.

    Args:
        settings: All settings of the flow by name.

    Raises:
        UsageError: If settings are invalid; the message has a line for each problem.
    """
    planning = _Planning(settings, {}, {})
    with planning.collect_errors():
        planning.check_mode(len(cells))
    sources: dict[str, Source] = {}
    with planning.collect_errors():
        sources = read_sources(settings[f"{_PREFIX}sources"])
    planned = [
        CellPlan(**cell, trainings=tuple(planning.trainings(sources, cell)), rate=planning.rate(cell)) for cell in cells
    ]
    if planning.found:
        raise UsageError("\n".join(planning.found))
    pods = tuple((_pods(settings, cell),) for cell in planned)
    return Plan(tuple(planning.downloads), tuple(planned), most_gpus(pods), pods)


def _pods(settings: Mapping[str, Any], cell: CellPlan) -> Pods:
    """Return the concurrent pods of a cell."""
    values = {name.removeprefix(_PREFIX): value for name, value in {**settings, **cell.values}.items()}
    at_once = sum(training.phase == CONCURRENT for training in cell.trainings) or 1
    jobs = values["many_model_count"] if values["mode"] == "many_model" else at_once
    gpus = max((training.gpu for training in cell.trainings), default=0)
    return Pods(jobs * values["pod_count"], str(values["cpu"]), f"{values['memory']}Gi", gpus)


@dataclass(frozen=True, slots=True)
class _Planning:
    """The problems found so far, and the downloads, each once and in order."""

    settings: Mapping[str, Any]
    found: dict[str, None]
    downloads: dict[Download, None]

    @contextmanager
    def collect_errors(self) -> Iterator[None]:
        try:
            yield
        except UsageError as error:
            self.found[str(error)] = None

    def check_mode(self, cells: int) -> None:
        mode, models = self.settings[f"{_PREFIX}mode"], self.settings[f"{_PREFIX}multi_model"]
        if mode == MULTI and not models:
            raise UsageError("fine_tuning_multi_model: mode multi_model needs models, such as [{name: org/model@hf}]")
        if mode == MULTI and cells > 1:
            raise UsageError(
                f"fine_tuning_mode: multi_model trains one cell, but the settings make {cells}; remove the lists"
            )
        if any(one.get("replicas", 1) < 1 for one in models):
            raise UsageError("fine_tuning_multi_model: replicas must be at least 1")
        name = self._job_name()
        if not re.fullmatch(r"[a-z][-a-z0-9]*", name) or len(name) > _LONGEST_NAME:
            raise UsageError(
                f"fine_tuning_name: {name} is not a valid beginning of a job name; begin with a letter, use at most "
                f"{_LONGEST_NAME} small letters, digits and dashes"
            )

    def rate(self, cell: Mapping[str, Any]) -> float:
        values = {**self.settings, **cell["values"]}
        with self.collect_errors():
            timespan_s = seconds(values[f"{_PREFIX}many_model_timespan"])
            return float(values[f"{_PREFIX}many_model_count"] / timespan_s) if timespan_s else 0.0
        return 0.0

    def trainings(self, sources: Mapping[str, Source], cell: Mapping[str, Any]) -> Iterator[Training]:
        values = {**self.settings, **cell["values"]}
        base = f"{self._job_name()}-{cell['index']}"
        if self.settings[f"{_PREFIX}mode"] != MULTI:
            with self.collect_errors():
                yield self._training(sources, values, base, values[f"{_PREFIX}model_name"])
            return
        for phase in (REFERENCE, CONCURRENT):
            for number, model in enumerate(self.settings[f"{_PREFIX}multi_model"]):
                with self.collect_errors():
                    one = self._training(sources, values, base, model["name"])
                    for replica in range(model.get("replicas", 1) if phase == CONCURRENT else 1):
                        suffix = "alone" if phase == REFERENCE else str(replica)
                        yield replace(one, name=f"{base}-{number}-{_slug(model['name'])}-{suffix}", phase=phase)

    def _job_name(self) -> str:
        return str(self.settings[f"{_PREFIX}name"] or self.settings[f"{_PREFIX}workload"]).lower()

    def _training(self, sources: Mapping[str, Source], values: Mapping[str, Any], name: str, model: str) -> Training:
        workload, dataset = values[f"{_PREFIX}workload"], values[f"{_PREFIX}dataset_name"]
        model_name, transform, template = "", "", ""
        if model:
            model_name, source = find_model(sources, model, values[f"{_PREFIX}model_registry"])
            self._fetch(source, model_name, "/model")
        if dataset:
            source = find_dataset(sources, dataset)
            self._fetch(source, dataset, "/dataset")
            transform = source.transform_for(workload)
            template = source.response_template or values[f"{_PREFIX}default_response_template"]
        return Training(
            name=name,
            phase="",
            model_name=model_name,
            dataset_name=dataset,
            dataset_transform=transform,
            dataset_response_template=template if workload == "fms" else "",
            container_image=values[f"{_PREFIX}images"][workload],
            hyper_parameters=without_nulls(values[f"{_PREFIX}hyper_parameters"]),
            gpu=values[f"{_PREFIX}gpu"],
            use_secondary_nic=_networks(values),
        )

    def _fetch(self, source: Source, name: str, folder: str) -> None:
        address = source.address(name)
        if address:
            image = source.image or self.settings[f"{_PREFIX}download_image"]
            self.downloads[Download(name, address, folder, source.secret, image)] = None


def without_nulls(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return *given* without nulls, at every depth, so that the base's values apply there."""
    return {
        key: without_nulls(value) if isinstance(value, Mapping) else value
        for key, value in given.items()
        if value is not None
    }


def _networks(values: Mapping[str, Any]) -> tuple[str, ...]:
    count, prefix = values[f"{_PREFIX}secondary_nic_count"], values[f"{_PREFIX}secondary_nic_prefix"]
    named = values[f"{_PREFIX}secondary_nics"]
    return tuple(f"{prefix}{number}" for number in range(1, count + 1)) if count else tuple(named)


def _slug(model: str) -> str:
    """Return the part of a model's name that is valid in a job's name."""
    last = model.partition("@")[0].rpartition("/")[2].lower()
    return re.sub(r"[^a-z0-9]+", "-", last)[:_LONGEST_MODEL].strip("-") or "model"
