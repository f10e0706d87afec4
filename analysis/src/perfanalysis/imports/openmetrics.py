"""OpenMetrics text as runs of a history."""

from __future__ import annotations

import io
import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import click
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_fd_to_metric_families
from prometheus_client.samples import Sample

from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.files.discovery import lab_of_line
from perfanalysis.files.documents import parse_time
from perfanalysis.files.findings import Finding, print_findings
from perfanalysis.files.local_path import LocalPath
from perfanalysis.imports.entries import ForeignRun, documents, keep, origin
from perfanalysis.imports.options import (
    HISTORY,
    SCALED,
    UNKNOWN,
    KpiOverrides,
    Scale,
    kpi_override_options,
    kpi_overrides,
)
from perfanalysis.units import BASE, TABLE, unit_of
from perfanalysis.workloads.kinds import shipped
from perfanalysis.workloads.kpis import Direction, KpiValue, metric_name


class _Lines:
    """The lines of a text, and the number of the last one that was read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for line in io.StringIO(self.text, newline="\n"):
            self.number += 1
            yield line


def families_of(content: bytes, where: str) -> tuple[Metric, ...]:
    """Yield the families of a text, in order. Raises DataQualityError with `where` and the line."""
    try:
        lines = _Lines(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        place = content[: error.start].count(b"\n") + 1
        raise DataQualityError(f"{where}:{place}: not OpenMetrics text: not UTF-8") from error
    try:
        return tuple(cast(Iterator[Metric], text_fd_to_metric_families(lines)))  # type: ignore[no-untyped-call]
    # the parser fails on some lines with other errors
    except Exception as error:
        reason = str(error) if isinstance(error, ValueError) else ""
        text = reason or "the parser of Prometheus cannot read it up to this line"
        raise DataQualityError(f"{where}:{max(lines.number, 1)}: not OpenMetrics text: {text}") from error


TOOL = "openmetrics"
OURS = "psap_perf_"
STATISTICS: Mapping[str, Callable[[list[float]], float]] = {
    "last": lambda values: values[-1],
    "mean": statistics.fmean,
    "min": min,
    "max": max,
}
NO_KEYS = frozenset(("recording", "cell", "part"))
"""Labels of psap.perf that distinguish recordings and are not settings."""
COUNTS = ("_count", "_gcount")
_STAMP = re.compile(r"\b\d{8}T\d{6}Z\b")
_BASE_UNITS = tuple(unit.name for unit in TABLE if unit.reason == BASE)

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Reading:
    """How to read a text: the label that names the run, labels that are only facts, the statistic of samples."""

    overrides: KpiOverrides
    run: str | None = None
    run_label: str = "run"
    started: str | None = None
    facts: frozenset[str] = frozenset()
    statistic: str | None = None


@dataclass(frozen=True)
class Number:
    """A number of a family with the remaining labels."""

    name: str
    help: str
    scale: Scale
    labels: Labels
    value: float
    at_s: float | None


def foreign_runs(
    families: tuple[Metric, ...], path: Path, digest: str, reading: Reading
) -> tuple[tuple[ForeignRun, ...], tuple[Finding, ...]]:
    """Return the runs of a text, and findings about the rest.

    Raises UsageError if the text has no times, or if a series has several samples and no statistic was chosen;
    DataQualityError if it has no number, or two that would become one KPI.
    """
    numbers = [number for family in families for number in _numbers(family)]
    if not numbers:
        raise DataQualityError(f"{path} has no value that can be a KPI")
    known = _declared() if any(family.name.startswith(OURS) for family in families) else {}
    grouped: dict[tuple[str, Labels], dict[str, list[Number]]] = {}
    for number in numbers:
        labels = dict(number.labels)
        run = reading.run or labels.get(reading.run_label) or f"{path.stem}-{digest[:6]}"
        rest = tuple((name, text) for name, text in number.labels if name != reading.run_label)
        grouped.setdefault((run, rest), {}).setdefault(number.name, []).append(number)
    facts = _info(families)
    runs = tuple(_run(run, labels, found, facts, reading, known, path) for (run, labels), found in grouped.items())
    return runs, tuple(_left_out(families, path))


def _numbers(family: Metric) -> Iterator[Number]:
    """Yield what can be a KPI; a mean replaces the sum of a histogram or a summary."""
    scale = _scale(family)
    sums: dict[tuple[Labels, float | None], float] = {}
    for sample in family.samples:
        if not _finite(sample):
            continue
        labels = tuple(sorted((name, text) for name, text in sample.labels.items() if name not in ("le", "quantile")))
        ending, at_s = sample.name.removeprefix(family.name), _seconds(sample)
        number = Number(family.name, family.documentation or family.name, scale, labels, sample.value, at_s)
        if ending in ("_sum", "_gsum"):
            sums[labels, at_s] = sample.value
        elif ending in COUNTS:
            yield replace(number, name=f"{family.name}_count", scale=Scale("count"))
        elif ending == "" and family.type == "summary":
            percentile = f"p{100 * float(sample.labels['quantile']):g}".replace(".", "_")
            yield replace(number, name=f"{family.name}_{percentile}")
        elif family.type in ("gauge", "unknown") or ending == "_total":
            yield replace(number, name=sample.name)
    counts = {
        (tuple(sorted(sample.labels.items())), _seconds(sample)): sample.value
        for sample in family.samples
        if sample.name.removeprefix(family.name) in COUNTS
    }
    for (labels, at_s), total in sums.items():
        count = counts.get((labels, at_s))
        if count:
            mean = total / count
            yield Number(f"{family.name}_mean", family.documentation or family.name, scale, labels, mean, at_s)


def _finite(sample: Sample) -> bool:
    """Return whether a sample has a finite value; a native histogram has none."""
    return sample.value is not None and math.isfinite(sample.value)


def _seconds(sample: Sample) -> float | None:
    return None if sample.timestamp is None else float(sample.timestamp)


def _scale(family: Metric) -> Scale:
    """Return the unit in the text, else the base unit at the end of the name."""
    text = family.unit or next((unit for unit in _BASE_UNITS if family.name.endswith(f"_{unit}")), "")
    if not text:
        return UNKNOWN
    unit, factor = SCALED.get(text, (text.replace("_per_second", "/s"), 1.0))
    try:
        return Scale(unit_of(unit).name, factor)
    except ValueError:
        return Scale(f"{{{text}}}")


def _run(
    run: str,
    labels: Labels,
    found: Mapping[str, list[Number]],
    info: Mapping[str, str],
    reading: Reading,
    known: Mapping[str, tuple[str, str, Direction]],
    path: Path,
) -> ForeignRun:
    shown = dict(labels)
    flow = shown.pop("flow", None)
    lab = lab_of_line(shown.pop("lab", ""))
    recording = shown.get("recording") or ",".join(f"{name}={text}" for name, text in shown.items()) or "all"
    no_keys = NO_KEYS | reading.facts
    kpis = [_kpi(name, numbers, reading, known, path) for name, numbers in found.items()]
    names = [kpi.name for kpi in kpis]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataQualityError(f"{path}: several metrics would become the KPI {twice} of {recording}; rename one")
    facts = {**info, **{name: text for name, text in shown.items() if name in reading.facts}}
    return ForeignRun(
        run=run,
        tool=TOOL,
        recording=recording,
        started_s=_started(run, found, reading, path),
        kpis=tuple(kpis),
        keys={name: text for name, text in shown.items() if name not in no_keys},
        facts=facts if flow is None else {**facts, "flow": flow},
        lab=lab,
    )


def _kpi(
    name: str,
    numbers: list[Number],
    reading: Reading,
    known: Mapping[str, tuple[str, str, Direction]],
    path: Path,
) -> KpiValue:
    first, values = numbers[0], [number.value for number in numbers]
    if len(values) > 1 and reading.statistic is None:
        raise UsageError(
            f"{path}: {name} has {len(values)} samples; choose the value of the KPI with --statistic: "
            + ", ".join(STATISTICS)
        )
    value = STATISTICS[reading.statistic or "last"](values)
    if name in known:
        ours, unit, direction = known[name]
        direction = reading.overrides.direction(ours, direction)
        return KpiValue(value, name=ours, help=first.help, unit=unit, direction=direction)
    kpi = re.sub(r"[^a-z0-9]+", "_", name.removeprefix(OURS).lower()).strip("_")
    kpi = f"m_{kpi}" if kpi[:1].isdigit() else kpi
    scale = reading.overrides.scale(kpi, first.scale)
    direction = reading.overrides.direction(kpi)
    return KpiValue(value * scale.factor, name=kpi, help=first.help, unit=scale.unit, direction=direction)


def _declared() -> Mapping[str, tuple[str, str, Direction]]:
    """Name of the metric → name, unit and direction of each KPI of psap.perf."""
    kpis = [kpi for kind in shipped().all.values() for kpi in kind.kpis]
    return {metric_name(kpi): (kpi.name, kpi.unit, kpi.direction) for kpi in kpis}


def _started(run: str, found: Mapping[str, list[Number]], reading: Reading, path: Path) -> float:
    """Return the start: as passed, else the first timestamp, else the time in the id of a run of psap.perf."""
    if reading.started is not None:
        given = parse_time(reading.started)
        if given is None:
            raise UsageError(f"--started {reading.started}: write a time with its zone, such as 2026-11-22T10:00:00Z")
        return given
    stamps = [number.at_s for numbers in found.values() for number in numbers if number.at_s is not None]
    if stamps:
        return min(stamps)
    stamp = _STAMP.search(run)
    if stamp is None:
        raise UsageError(f"{path} has no timestamps; pass --started")
    return datetime.strptime(stamp[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()


def _info(families: tuple[Metric, ...]) -> dict[str, str]:
    return {
        f"{family.name}.{name}": text
        for family in families
        if family.type == "info"
        for sample in family.samples
        for name, text in sample.labels.items()
    }


def _left_out(families: tuple[Metric, ...], path: Path) -> Iterator[Finding]:
    endless = sum(not _finite(sample) for family in families for sample in family.samples)
    if endless:
        yield Finding("warning", path.name, f"left out {endless} samples: not finite")
    buckets = [family.name for family in families if family.type in ("histogram", "gaugehistogram")]
    states = [family.name for family in families if family.type == "stateset"]
    if buckets:
        text = f"of {', '.join(buckets)} only count and mean become KPIs: buckets do not determine percentiles"
        yield Finding("note", path.name, text)
    if states:
        yield Finding("note", path.name, f"left out {', '.join(states)}: states are not KPIs")


@click.command("openmetrics")
@click.argument("files", nargs=-1, required=True, type=LocalPath(exists=True, dir_okay=False))
@HISTORY
@click.option(
    "--run",
    "run_id",
    metavar="ID",
    help="ID of the run. [default: the value of the label of --run-label, else the file's name]",
)
@click.option(
    "--run-label", default="run", show_default=True, metavar="LABEL", help="Label whose value is the run's ID."
)
@click.option(
    "--started", metavar="TIME", help="Time of the results, with its zone; not needed if the file has timestamps."
)
@click.option(
    "--fact",
    "facts",
    multiple=True,
    metavar="LABEL",
    help="Label whose values may differ between compared runs; repeatable.",
)
@click.option(
    "--statistic",
    type=click.Choice(["last", "mean", "min", "max"]),
    help="Value to use if a metric has several samples.",
)
@kpi_override_options
def import_openmetrics(
    files: tuple[Path, ...],
    folder: Path,
    run_id: str | None,
    run_label: str,
    started: str | None,
    facts: tuple[str, ...],
    statistic: str | None,
    lower: tuple[str, ...],
    higher: tuple[str, ...],
    units: tuple[str, ...],
) -> None:
    """Add the numbers of OpenMetrics text to a history.

    Each of FILES has one run, or a label that names the run. Samples with the same labels form one recording, and its
    labels become the keys for comparisons. Prometheus' Python client parses the text. KPIs of psap.perf (kpis.prom of a
    report) keep name, unit and direction.
    """
    reading = Reading(kpi_overrides(lower, higher, units), run_id, run_label, started, frozenset(facts), statistic)
    for path in files:
        content = path.read_bytes()
        source = origin(path, content)
        runs, findings = foreign_runs(families_of(content, str(path)), path, source["sha256"], reading)
        added = keep(folder, documents(runs, source))
        print_findings((*findings, *added.findings))
        click.echo(added.summary(path.name))
