"""The sections of a report about the whole run: comparison of cells, timeline, settings, versions."""

from __future__ import annotations

from typing import Any

from perfanalysis.drawing.blocks import DASH, Cell, Field, Table, data_size, duration
from perfanalysis.drawing.charts import Axis, Chart, Figure, cumulative, in_rows
from perfanalysis.drawing.layers import labels_with_overlaps
from perfanalysis.drawing.wording import value_text
from perfanalysis.files.discovery import Cell as MatrixCell
from perfanalysis.files.discovery import Command, Run
from perfanalysis.files.documents import mapping
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.labels import marks_together, recording_label, varying_settings
from perfanalysis.workloads.percentiles import SHARES, STATED, Value
from perfanalysis.workloads.run_analysis import RunAnalysis
from perfanalysis.workloads.shown import value_cell
from perfanalysis.workloads.workload_type import Analysis

MOST_CURVES = 12
MOST_IN_ROW = 3


def comparison_figures(result: RunAnalysis) -> tuple[Figure, ...]:
    """Return the plots that kinds of workloads declare, and the distributions of all recordings, one chart per sample.

    Empty for a single recording.
    """
    if len(result.analyses) < 2:
        return ()
    declared = result.figures
    samples = (sample for analysis in result.analyses[:MOST_CURVES] for sample in analysis.samples)
    names = dict.fromkeys(sample.name for sample in samples if len(sample.values))
    charts = tuple(_overlay(result, name) for name in names)
    caption = "The share of values that are at most this large, for each recording."
    if len(result.analyses) > MOST_CURVES:
        caption += f" Only the first {MOST_CURVES} recordings are drawn; the table lists all."
    if not charts:
        return declared
    rows = (charts,) if len(charts) <= MOST_IN_ROW else in_rows(charts)
    drawn = [one for one in result.analyses[:MOST_CURVES] if any(len(sample.values) for sample in one.samples)]
    marks = marks_together(drawn, result.run)
    return (*declared, Figure("distributions", "Recordings compared", caption, rows, marks))


def _overlay(result: RunAnalysis, name: str) -> Chart:
    found = [
        (recording_label(analysis, result.run), sample)
        for analysis in result.analyses[:MOST_CURVES]
        for sample in analysis.samples
        if sample.name == name and len(sample.values)
    ]
    labels = labels_with_overlaps([label for label, _ in found], [sample.values for _, sample in found])
    layers = tuple(cumulative(sample.values, labels[place], place) for place, (_, sample) in enumerate(found))
    _label, first = found[0]
    value = Axis(first.label, "s" if first.unit == "seconds" else first.unit, low=0.0)
    share = Axis(first.of, "%", low=0.0, high=100.0)
    return Chart(first.label, value, share, layers, height=320)


def comparison_tables(result: RunAnalysis) -> tuple[Table, ...]:
    """Return a table for each kind of recordings; cells without any are in the first."""
    kinds: dict[str, tuple[Analysis, ...]] = {}
    for analysis in result.analyses:
        kinds[analysis.title] = (*kinds.get(analysis.title, ()), analysis)
    recorded = {analysis.place.cell.directory for analysis in result.analyses if analysis.place.cell}
    last = {cell.index: cell.directory for cell in result.run.cells}
    missing = tuple(
        cell for cell in result.run.cells if cell.directory == last[cell.index] and cell.directory not in recorded
    )
    if len(kinds) < 2:
        return (_comparison_table(result.run, "Results of every cell", result.analyses, missing),)
    return tuple(
        _comparison_table(result.run, f"{title}: results", analyses, () if place else missing)
        for place, (title, analyses) in enumerate(kinds.items())
    )


def _comparison_table(
    run: Run, title: str, analyses: tuple[Analysis, ...], missing_cells: tuple[MatrixCell, ...]
) -> Table:
    """Return one row per recording: the cell's values, its headline KPIs; cells without a recording are marked.

    Headlines without a number in any recording are left out: the table of all KPIs has the reasons.
    """
    headed = [value for analysis in analyses for value in analysis.kpis if value.headline]
    known = {value.name for value in headed if value.number is not None}
    headlines = list({value.name: value for value in headed if not known or value.name in known}.values())
    settings = varying_settings(run)
    facts = _further_facts(analyses, settings)
    prefix = f"{run.document.get('flow')}_"
    fields = (
        Field("Recording"),
        *(Field(name.removeprefix(prefix).rsplit(".", 1)[-1], help=name) for name in settings),
        *(Field(name) for name in facts),
        *(Field(value.headline or value.name, "number", help=value.help) for value in headlines),
    )
    rows = [_comparison_row(analysis, settings, facts, headlines) for analysis in analyses]
    for cell in missing_cells:
        values = tuple(_value_cell(cell.values.get(name)) for name in settings)
        missing = tuple(Cell("", reason="no recording") for _ in (*facts, *headlines))
        rows.append((Cell(f"cell {cell.index}", f"{cell.status}, no recording"), *values, *missing))
    return Table(title, fields, tuple(rows), sort=True)


def _further_facts(analyses: tuple[Analysis, ...], settings: tuple[str, ...]) -> tuple[str, ...]:
    """Return the facts that differ between recordings, except for those in a setting's column."""

    def is_setting(values: list[str]) -> bool:
        cells = [analysis.place.cell.values if analysis.place.cell else {} for analysis in analyses]
        return any([value_text(cell.get(setting)) for cell in cells] == values for setting in settings)

    names = dict.fromkeys(name for analysis in analyses for name in analysis.facts)
    columns = {name: [analysis.facts.get(name, "") for analysis in analyses] for name in names}
    return tuple(name for name, values in columns.items() if len(set(values)) > 1 and not is_setting(values))


def _comparison_row(
    analysis: Analysis, settings: tuple[str, ...], facts: tuple[str, ...], headlines: list[KpiValue]
) -> tuple[Cell, ...]:
    cell = analysis.place.cell
    values = {} if cell is None else cell.values
    kpis = {value.name: value for value in analysis.kpis}
    name = Cell(f"cell {cell.index}", cell.status) if cell else Cell(analysis.place.name)
    absent = Value(None, "not measured")
    return (
        name,
        *(_value_cell(values.get(setting)) for setting in settings),
        *(Cell(analysis.facts.get(fact, "")) for fact in facts),
        *(value_cell(kpis.get(value.name, absent), value.unit) for value in headlines),
    )


def _value_cell(value: Any) -> Cell:
    return Cell("", reason="not set in this cell") if value is None else Cell(value_text(value))


def kpi_table(result: RunAnalysis) -> Table:
    """Return every KPI of every recording, with its declaration."""
    several = len(result.analyses) > 1
    recording = (Field("Recording"),) if several else ()
    fields = (
        *recording,
        Field("KPI", "code"),
        Field("Value", "number"),
        Field("Better"),
        Field("Description"),
    )
    rows = tuple(
        (
            *((Cell(recording_label(analysis, result.run)),) if several else ()),
            Cell(value.name),
            value_cell(value, value.unit),
            Cell({"higher": "higher", "lower": "lower", "neither": DASH}[value.direction]),
            Cell(": ".join((value.help, *value.labels.values()))),
        )
        for analysis in result.analyses
        for value in analysis.kpis
    )
    percentiles = any(value.of and value.of.statistic in SHARES for one in result.analyses for value in one.kpis)
    return Table("KPIs", fields, rows, STATED[result.options.method] if percentiles else "")


def settings_table(run: Run) -> Table | None:
    """Return every setting with its value and source, defaults last; differing hosts have separate rows.

    None without settings.
    """
    rows = [_setting_row(name, entry) for name, entry in _entries(run.settings.get("all"))]
    rows.sort(key=lambda row: row[2].text.startswith("default"))
    fields = [Field("Setting", "code"), Field("Value", "code"), Field("Set by")]
    hosts = [(host, _entries(entries)) for host, entries in _entries(run.settings.get("hosts"))]
    if any(entries for _, entries in hosts):
        fields.append(Field("Host"))
        of_hosts = ((*_setting_row(*entry), Cell(host)) for host, entries in hosts for entry in entries)
        rows = [*of_hosts, *((*row, Cell("")) for row in rows)]
    return Table("Settings", tuple(fields), tuple(rows)) if rows else None


def _entries(mapping: Any) -> list[tuple[str, Any]]:
    return sorted((str(key), value) for key, value in mapping.items()) if isinstance(mapping, dict) else []


def _setting_row(name: str, entry: Any) -> tuple[Cell, ...]:
    known = entry if isinstance(entry, dict) else {"value": entry}
    return Cell(name), Cell(value_text(known.get("value"))), Cell(str(known.get("origin") or "unknown"))


def versions_table(run: Run) -> Table:
    """Return the versions of the workload, the cluster and the repository."""
    document = run.document
    pairs = dict(mapping(document.get("versions")))
    cluster = mapping(document.get("cluster"))
    pairs |= {f"cluster {name}": text for name, text in cluster.items() if text}
    git = mapping(document.get("git"))
    if git.get("commit"):
        pairs["repository commit"] = f"{git['commit']}{' with changes not committed' if git.get('dirty') else ''}"
    rows = tuple((Cell(str(name)), Cell(str(text))) for name, text in pairs.items())
    return Table("Versions", (Field("Component"), Field("Version", "code")), rows)


def command_table(run: Run) -> Table | None:
    """Return commands in the order of their starts, each with its part of the run; unfinished ones extend to the end.

    None if no command recorded its start.
    """
    begins = [command.started_s for command in run.commands if command.started_s is not None]
    ends = [command.ended_s for command in run.commands if command.ended_s is not None]
    ends += [span.ended_s for span in run.timeline if span.ended_s is not None]
    if not begins:
        return None
    start, end = min(begins), max([*ends, *begins])
    rows = tuple(_command_row(command, start, end) for command in run.commands if command.started_s is not None)
    fields = (
        Field("Command"),
        Field("Began", "number", help="since the first command"),
        Field("Took", "number"),
        Field("Status", "badge"),
        Field("Over the run", "span"),
    )
    return Table("Commands", fields, rows)


def _command_row(command: Command, start: float, end: float) -> tuple[Cell, ...]:
    span = (end - start) or 1.0
    began = command.started_s if command.started_s is not None else start
    stop = command.ended_s if command.ended_s is not None else end
    place = round(100 * (began - start) / span, 3), round(max(100 * (stop - began) / span, 0.3), 3)
    took = Cell(duration(stop - began), sort=stop - began) if command.ended_s is not None else Cell("", reason="no end")
    return (
        Cell(
            command.role, " · ".join(part for part in (command.lane, command.directory) if part), link=command.directory
        ),
        Cell(f"+{duration(began - start)}", sort=began - start),
        took,
        Cell(command.status),
        Cell("", command.status, sort=began - start, span=place),
    )


FILES = {
    "run.json": "result of the run, and the reason of its failure",
    "settings.yml": "every setting and its source",
    "ansible.log": "Ansible's output",
    "failures.jsonl": "every failed task",
    "timeline.csv": "plays, commands and tasks with start and end",
}


def file_table(run: Run) -> Table:
    """Return the existing files of the run itself, and the directory of each command."""
    own = [(name, text) for name, text in FILES.items() if (run.directory / name).is_file()]
    sizes = {name: (run.directory / name).stat().st_size for name, _ in own}
    rows = [(Cell(name, link=name), Cell(text), Cell(data_size(sizes[name]), sort=sizes[name])) for name, text in own]
    rows += [
        (
            Cell(command.directory, link=command.directory),
            Cell(f"of the command {command.role}"),
            Cell("", reason="folder"),
        )
        for command in run.commands
    ]
    fields = (Field("File", "code"), Field("Description"), Field("Size", "number"))
    return Table("Files of the run", fields, tuple(rows))
