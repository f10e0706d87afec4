"""From the requests of a load test to the contents of a report; the kind of any load generator, by its parser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from perfanalysis.drawing.blocks import Note, Section
from perfanalysis.files.discovery import Place, lab_of
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.kpis import KpiValue, evaluate
from perfanalysis.workloads.load_test import plots
from perfanalysis.workloads.load_test.document import DEFINITIONS, KIND, load_test_of
from perfanalysis.workloads.load_test.failures import FAILURES, failures_table
from perfanalysis.workloads.load_test.generator_cpu import bottleneck
from perfanalysis.workloads.load_test.kpis import KPIS, with_energy
from perfanalysis.workloads.load_test.serving import CAUSES, causes_of, serving_figure
from perfanalysis.workloads.load_test.stages import LATENCIES, SPREAD_COLUMNS, SUMMARY, Stage, stages_of, summary_table
from perfanalysis.workloads.load_test.tables import REQUESTS, STAGES, STATED, LoadTables
from perfanalysis.workloads.load_test.turns import TURNS, turns_table
from perfanalysis.workloads.percentiles import Method
from perfanalysis.workloads.prometheus_ranges import Ranges
from perfanalysis.workloads.shown import data_table
from perfanalysis.workloads.workload_type import Across, Analysis, Sample, WorkloadType

if TYPE_CHECKING:
    import pandas as pd

    from perfanalysis.drawing.blocks import Block
    from perfanalysis.drawing.charts import Figure

SPECS = {spec.name: spec for spec in (SUMMARY, FAILURES, TURNS, REQUESTS, STAGES, STATED)}
TELLING = ("flavor", "phase", "generator", "version", "runtime_image", "model")
"""Columns whose values distinguish lines of a comparison."""


def load_test_kind(
    name: str, marker: str, results: tuple[str, ...], parse: Callable[[RecordingFiles], LoadTables]
) -> WorkloadType[LoadTables]:
    """Return the kind of a load generator, whose document `marker` is in the same folder as its `results`."""
    return WorkloadType(
        name=name,
        version=1,
        files=(marker, *results),
        tables=LoadTables,
        parse=parse,
        analyse=partial(_analyse, marker),
        kpis=KPIS,
        across=_across,
    )


def _analyse(marker: str, tables: LoadTables, place: Place, method: Method) -> Analysis:
    source = RecordingFiles(place)
    document = source.document(marker, KIND)
    test = load_test_of(document)
    stages = stages_of(tables, test, method)
    facts = {
        name: test.facts[name] for name in ("model", "flavor", "phase", "round", "generator") if name in test.facts
    }
    if stages and stages[0].model:
        facts["model"] = stages[0].model
    if len(stages) == 1:
        facts["load"] = stages[0].load
    begin, end = tables.requests["started_s"].min(), tables.requests["ended_s"].max()
    summary, failures, turns = summary_table(stages), failures_table(stages), turns_table(stages)
    period = (float(begin), float(end)) if np.isfinite(begin) and np.isfinite(end) and begin <= end else None
    if sentence := bottleneck(document, period):
        source.find("warning", marker, sentence)
    return Analysis(
        place=place,
        title="Load test",
        lab=lab_of(document),
        frames={
            SUMMARY.name: summary,
            FAILURES.name: failures,
            TURNS.name: turns,
            REQUESTS.name: tables.requests,
            STAGES.name: tables.stages,
            STATED.name: tables.stated,
        },
        specs=SPECS,
        kpis=_kpis(stages),
        samples=_samples(stages),
        make_sections=lambda: _sections(tables, stages, summary, failures, turns),
        findings=source.findings,
        facts=facts,
        period=period,
        method=method,
        with_metric_kpis=lambda kpis: with_energy(kpis, stages),
        make_metric_sections=lambda windows: _serving(tables, windows, period),
    )


def _serving(tables: LoadTables, windows: Sequence[Ranges], period: tuple[float, float] | None) -> tuple[Section, ...]:
    figures = _known(serving_figure(tables.requests, windows, period)) if period else ()
    return (Section("serving", "Serving", "", figures),) if figures else ()


def _kpis(stages: tuple[Stage, ...]) -> tuple[KpiValue, ...]:
    """Return those of every stage, labelled by the load if there are several; the last one's are headlines."""
    found = [evaluate(KPIS, stage) for stage in stages]
    if len(stages) < 2:
        return tuple(value for values in found for value in values)
    return tuple(
        structs.replace(value, labels={"load": stage.load}, headline=value.headline if stage is stages[-1] else None)
        for stage, values in zip(stages, found, strict=True)
        for value in values
    )


def _samples(stages: tuple[Stage, ...]) -> tuple[Sample, ...]:
    """Return those of the last stage: latencies under different loads are not one sample."""
    if not stages:
        return ()
    return tuple(
        Sample(name, words[:1].upper() + words[1:], "seconds", stages[-1].values(column), "requests")
        for name, (column, words) in LATENCIES.items()
    )


def _sections(
    tables: LoadTables, stages: tuple[Stage, ...], summary: pd.DataFrame, failures: pd.DataFrame, turns: pd.DataFrame
) -> tuple[Section, ...]:
    series = {"all loads": summary}
    loads = _known(plots.throughput_figure(series), plots.latency_figure(series), plots.spread_figure(series))
    reasons = (data_table("Why requests failed", failures, FAILURES.columns),) if len(failures) else ()
    by_turn = (data_table("Turns of conversations", turns, TURNS.columns),) if len(turns) else ()
    requests = _known(
        plots.distributions_figure(stages),
        plots.timeline_figure(stages),
        plots.tokens_figure(stages),
        plots.outcomes_figure(stages),
    )
    limits = stages[0].test.limit_words if stages else ""
    generator = stages[0].test.facts.get("generator", "") if stages else ""
    goodput = f"Goodput counts requests with {limits}." if limits else "No limit was stated, so there is no goodput."
    shown = tuple(column for column in SUMMARY.columns if column.name not in SPREAD_COLUMNS)
    loads_table = data_table("Loads", summary, shown, goodput)
    wrong = tables.stated[~tables.stated["agrees"].fillna(value=True).astype(bool)]
    agreement: Block = Note(f"All {len(tables.stated)} values of the generator's summary agree with its records.")
    if len(wrong):
        agreement = data_table("Values of the summary that contradict its records", wrong, STATED.columns)
    elif not len(tables.stated):
        agreement = Note("The generator's summary has no value that its records can confirm.")
    return (
        Section("loads", "Loads", "", (*loads, loads_table)),
        Section("requests", "Requests", "", (*reasons, *requests, *by_turn) or (Note("No request was recorded."),)),
        Section("summary", "The generator's summary", DEFINITIONS.get(generator, ""), (agreement,)),
    )


def _known(*figures: Figure | None) -> tuple[Figure, ...]:
    return tuple(figure for figure in figures if figure is not None)


def _across(analyses: tuple[Analysis, ...]) -> Across:
    """Return lines for each flavor, version, image and model over the loads of all recordings."""
    return Across(analyses, lambda: _compared(analyses))


def _compared(analyses: tuple[Analysis, ...]) -> tuple[Figure, ...]:
    import pandas as pd

    if len(analyses) < 2:
        return ()
    rows = pd.concat([_with_causes(analysis) for analysis in analyses], ignore_index=True)
    telling = [name for name in TELLING if rows[name].nunique(dropna=False) > 1]
    series: dict[str, pd.DataFrame] = {}
    texts = [", ".join(str(row[name]) for name in telling if isinstance(row[name], str)) for _, row in rows.iterrows()]
    for label, own in rows.groupby(texts, sort=True):
        series[str(label) or "all recordings"] = own
    return _known(
        plots.throughput_figure(series),
        plots.latency_figure(series),
        plots.spread_figure(series),
        plots.repeated_figure(series),
    )


def _with_causes(analysis: Analysis) -> pd.DataFrame:
    """Return the row of each load; if there is one, with what the server did meanwhile."""
    rows = analysis.frames[SUMMARY.name].astype("object")
    known = causes_of(analysis.kpis) if len(rows) == 1 else {}
    return rows.assign(**{name: known.get(name, np.nan) for name in CAUSES})
