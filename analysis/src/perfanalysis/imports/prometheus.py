"""Range queries of Prometheus in JSON, or OpenMetrics dumps, as a run directory."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from prometheus_client.metrics_core import Metric

from perfanalysis.drawing.wording import counted
from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.files.documents import END_OF_TIME_S, load_json
from perfanalysis.files.local_path import LocalPath
from perfanalysis.imports.openmetrics import families_of
from perfanalysis.imports.options import INTO, UNKNOWN, KpiOverrides, kpi_override_options, kpi_overrides
from perfanalysis.imports.run_directory import Imported, Recording, file_name, write_run_directory
from perfanalysis.workloads.prometheus_ranges import NAME, samples_of

if TYPE_CHECKING:
    import pandas as pd

MARKER = "prometheus_queries.yml"
TOOL = "prometheus"
WITHOUT_STEP_S = 1.0
"""The step of samples with a single time."""


@dataclass(frozen=True)
class Answer:
    """One query: its name, the response as stored, and its samples; `error` states why there are none."""

    name: str
    content: bytes
    samples: pd.DataFrame | None
    error: str | None = None
    query: str | None = None
    """The query, if known."""
    overridden: Mapping[str, Any] = field(default_factory=dict)
    """The user's declarations about its values: unit, factor, direction."""

    @property
    def file(self) -> str:
        """Return the name of its file in the run."""
        return f"{file_name(self.name)}.json"


def read_answers(paths: Iterable[Path]) -> tuple[Answer, ...]:
    """Return a response for each JSON file, named after it, and one for each family of an OpenMetrics text.

    Invalid input has an error instead of samples. Raises UsageError if two would have the same name, and
    DataQualityError if no file can be read.
    """
    paths = tuple(paths)
    answers = tuple(answer for path in paths for answer in _answers(path))
    twice = [name for name, count in Counter(answer.file for answer in answers).items() if count > 1]
    if twice:
        raise UsageError(f"{len(twice)} answers have the same name as another, such as {twice[0]}; rename their files")
    if all(answer.samples is None for answer in answers):
        raise DataQualityError("; ".join(f"{answer.name}: {answer.error}" for answer in answers))
    if not any(answer.samples is not None and len(answer.samples) for answer in answers):
        raise DataQualityError(f"no sample in {', '.join(path.name for path in paths)}")
    return answers


def _answers(path: Path) -> Iterable[Answer]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    if content.lstrip()[:1] in (b"{", b"["):
        return (_of_json(path, content),)
    try:
        return [_of_family(family) for family in families_of(content, path.name) if family.samples]
    except DataQualityError as error:
        return (Answer(path.stem, content, None, f"neither JSON of the Prometheus API nor OpenMetrics: {error}"),)


def _of_json(path: Path, content: bytes) -> Answer:
    try:
        samples = samples_of(load_json(content), path.stem)
        if not samples["at_s"].between(0, END_OF_TIME_S).all():
            raise ValueError("a sample has an invalid time; Prometheus counts seconds since 1970")
        return Answer(path.stem, content, samples)
    except ValueError as error:
        return Answer(path.stem, content, None, f"the answer cannot be read: {error}")


def _of_family(family: Metric) -> Answer:
    """Return the form of a response to a range query. Samples without a time are left out."""
    series: dict[tuple[tuple[str, str], ...], list[list[Any]]] = {}
    for sample in family.samples:
        at_s = None if sample.timestamp is None else float(sample.timestamp)
        if at_s is not None and sample.value is not None and 0 <= at_s < END_OF_TIME_S:
            labels = {NAME: sample.name, **sample.labels}
            series.setdefault(tuple(sorted(labels.items())), []).append([at_s, repr(float(sample.value))])
    result = [{"metric": dict(labels), "values": values} for labels, values in series.items()]
    answer = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    return Answer(family.name, json.dumps(answer).encode(), samples_of(answer, family.name))


def imported_answers(paths: tuple[Path, ...], answers: tuple[Answer, ...]) -> Imported:
    """Return the run of these responses: one window, from the first sample to the last."""
    files = query_files(answers)
    begin, end = _window(answers)
    return Imported(TOOL, paths[0], TOOL, (Recording(TOOL, files, started_s=begin, ended_s=end),))


def query_files(answers: tuple[Answer, ...]) -> dict[str, Path | bytes]:
    """Return the files of a directory with these responses; none if there is no sample."""
    found = [answer.samples for answer in answers if answer.samples is not None and len(answer.samples)]
    if not found:
        return {}
    begin, end = _window(answers)
    document = {
        "schema": "psap.perf/prometheus-queries/1",
        "url": "",
        "origin": "imported from files",
        "start_s": begin,
        "end_s": end,
        "step_s": _step(found),
        "queries": [_query(answer) for answer in answers],
        "warnings": [],
    }
    # JSON is YAML too: no other writer is needed
    files: dict[str, Path | bytes] = {MARKER: json.dumps(document, indent=1).encode()}
    return files | {answer.file: answer.content for answer in answers if answer.samples is not None}


def with_overrides(answer: Answer, overrides: KpiOverrides) -> Answer:
    """Return the response with the user's unit and direction of its values."""
    overridden: dict[str, Any] = {}
    scale, direction = overrides.scale(answer.name), overrides.direction(answer.name)
    if scale is not UNKNOWN:
        overridden |= {"unit": scale.unit, "factor": scale.factor}
    if direction != "neither":
        overridden["direction"] = direction
    return replace(answer, overridden=overridden)


def _window(answers: tuple[Answer, ...]) -> tuple[float, float]:
    """Return the window from the first sample to the last."""
    found = [answer.samples["at_s"] for answer in answers if answer.samples is not None and len(answer.samples)]
    return min(float(times.min()) for times in found), max(float(times.max()) for times in found)


def _query(answer: Answer) -> dict[str, Any]:
    samples = answer.samples
    return {
        "name": answer.name,
        "query": answer.query or answer.name,
        "file": None if samples is None else answer.file,
        "series": None if samples is None else int(samples["labels"].nunique()),
        "samples": None if samples is None else len(samples),
        "error": answer.error,
        **answer.overridden,
    }


def _step(found: list[pd.DataFrame]) -> float:
    """Return the usual distance between two samples of a series."""
    distances = [
        float(distance)
        for samples in found
        for distance in samples.groupby(["metric", "labels"], observed=True, dropna=False)["at_s"].diff().dropna()
        if distance > 0
    ]
    return statistics.median(distances) if distances else WITHOUT_STEP_S


@click.command("prometheus")
@click.argument("files", nargs=-1, required=True, type=LocalPath(exists=True, dir_okay=False))
@INTO
@kpi_override_options
def import_prometheus(
    files: tuple[Path, ...], into: Path | None, lower: tuple[str, ...], higher: tuple[str, ...], units: tuple[str, ...]
) -> None:
    """Create a run directory from saved responses of Prometheus.

    FILES are responses of its API (range or instant queries, in JSON), each a query with the name of its file, or
    OpenMetrics text with timestamps, one query per family. Suffixes of names determine units: _seconds, _bytes,
    _percent, … Mean, P50, P95 and maximum of each series become KPIs. A query without a unit has no KPIs; a message
    names it. Exit code 5: a file could not be read; the run contains the others.
    """
    overrides = kpi_overrides(lower, higher, units)
    answers = tuple(with_overrides(answer, overrides) for answer in read_answers(files))
    run = write_run_directory(imported_answers(files, answers), into)
    samples = sum(len(answer.samples) for answer in answers if answer.samples is not None)
    click.echo(f"{counted(len(answers), 'query', 'queries')}, {counted(samples, 'sample')}")
    click.echo(f"Run: {run}")
    lost = [f"{answer.name}: {answer.error}" for answer in answers if answer.samples is None]
    if lost:
        raise DataQualityError(f"{'; '.join(lost)}. The run was created without them")
