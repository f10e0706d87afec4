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
"""The step of samples that were all taken at one moment."""


@dataclass(frozen=True)
class Answer:
    """One query: its name, the answer as it is kept, and its samples; `error` says why there is none."""

    name: str
    content: bytes
    samples: pd.DataFrame | None
    error: str | None = None
    query: str | None = None
    """What was asked, where it is known."""
    overridden: Mapping[str, Any] = field(default_factory=dict)
    """What the user says of its values: unit, factor, direction."""

    @property
    def file(self) -> str:
        """The name of the file that holds it in the run."""
        return f"{file_name(self.name)}.json"


def read_answers(paths: Iterable[Path]) -> tuple[Answer, ...]:
    """An answer for each JSON file, named like it, and one for each family of an OpenMetrics text.

    What cannot be read has an error instead of samples. Raises UsageError when two would have the same name, and
    DataQualityError when no file can be read.
    """
    paths = tuple(paths)
    answers = tuple(answer for path in paths for answer in _answers(path))
    twice = [name for name, count in Counter(answer.file for answer in answers).items() if count > 1]
    if twice:
        raise UsageError(f"{len(twice)} answers would have the name of another, such as {twice[0]}; rename their files")
    if all(answer.samples is None for answer in answers):
        raise DataQualityError("; ".join(f"{answer.name}: {answer.error}" for answer in answers))
    if not any(answer.samples is not None and len(answer.samples) for answer in answers):
        raise DataQualityError(f"{', '.join(path.name for path in paths)}: there is no sample in it")
    return answers


def _answers(path: Path) -> Iterable[Answer]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    if content.lstrip()[:1] in (b"{", b"["):
        return (_of_json(path, content),)
    try:
        return [_of_family(family) for family in families_of(content, path.name) if family.samples]
    except DataQualityError as error:
        return (Answer(path.stem, content, None, f"neither an answer in JSON nor OpenMetrics: {error}"),)


def _of_json(path: Path, content: bytes) -> Answer:
    try:
        samples = samples_of(load_json(content), path.stem)
        if not samples["at_s"].between(0, END_OF_TIME_S).all():
            raise ValueError("a sample has a time that is none; Prometheus' are seconds since 1970")
        return Answer(path.stem, content, samples)
    except ValueError as error:
        return Answer(path.stem, content, None, f"the answer cannot be read: {error}")


def _of_family(family: Metric) -> Answer:
    """In the form of an answer to a range query. Samples without a time are left out."""
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
    """The run that these answers are: one window, from the first sample to the last."""
    files = query_files(answers)
    begin, end = _window(answers)
    return Imported(TOOL, paths[0], TOOL, (Recording(TOOL, files, started_s=begin, ended_s=end),))


def query_files(answers: tuple[Answer, ...]) -> dict[str, Path | bytes]:
    """The files that a directory with these answers has; none when there is no sample."""
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
    # JSON is YAML too, and needs no other writer
    files: dict[str, Path | bytes] = {MARKER: json.dumps(document, indent=1).encode()}
    return files | {answer.file: answer.content for answer in answers if answer.samples is not None}


def with_overrides(answer: Answer, overrides: KpiOverrides) -> Answer:
    """The answer with what the user says of the unit of its values, and of which way is better."""
    overridden: dict[str, Any] = {}
    scale, direction = overrides.scale(answer.name), overrides.direction(answer.name)
    if scale is not UNKNOWN:
        overridden |= {"unit": scale.unit, "factor": scale.factor}
    if direction != "neither":
        overridden["direction"] = direction
    return replace(answer, overridden=overridden)


def _window(answers: tuple[Answer, ...]) -> tuple[float, float]:
    """From the first sample to the last."""
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
    """The usual distance of two samples of a series."""
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
    """Make a run directory of what a Prometheus answered.

    FILES are answers of its API (range or instant queries, in JSON), each named like its file, or OpenMetrics text with
    timestamps, a query for each family. Units are told by the ends of names: _seconds, _bytes, _percent, … Mean, P50,
    P95 and maximum of each series are KPIs; a query without a unit has none, and is named. Exit code 5 when a file
    cannot be read; the run is made of the others.
    """
    overrides = kpi_overrides(lower, higher, units)
    answers = tuple(with_overrides(answer, overrides) for answer in read_answers(files))
    run = write_run_directory(imported_answers(files, answers), into)
    samples = sum(len(answer.samples) for answer in answers if answer.samples is not None)
    click.echo(f"{counted(len(answers), 'query', 'queries')}, {counted(samples, 'sample')}")
    click.echo(f"Run: {run}")
    lost = [f"{answer.name}: {answer.error}" for answer in answers if answer.samples is None]
    if lost:
        raise DataQualityError(f"{'; '.join(lost)}. The run was made without")
