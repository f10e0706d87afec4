"""The page of trends: of one run against its history, or of a history's newest runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.drawing.blocks import Table
from perfanalysis.drawing.charts import Figure
from perfanalysis.drawing.matplotlib import Format
from perfanalysis.drawing.page import Drawn, page_assets, page_environment, write_images
from perfanalysis.drawing.wording import counted
from perfanalysis.errors import UsageError
from perfanalysis.files.documents import write_text
from perfanalysis.files.findings import Finding
from perfanalysis.results.history.entries import Entry
from perfanalysis.results.history.folder import load
from perfanalysis.verdicts.comparison.write import named_figures
from perfanalysis.verdicts.regression.acknowledged import Acknowledged
from perfanalysis.verdicts.regression.series import Selection
from perfanalysis.verdicts.regression.tables import kpi_table, suspects_table
from perfanalysis.verdicts.regression.trends import phrases_of, trend_figures
from perfanalysis.verdicts.regression.verdict import Options, RecordingVerdict, Regression, regress
from perfanalysis.verdicts.regression.watched import told

METHODS = {
    "change-point": (
        "Change points: the best split of a KPI's series by the t test with equal variances, its p-value times the "
        "number of splits looked at, at most 0.03, and again in each part. A change is this run's when it began at "
        "most {recent} ago."
    ),
    "z-score": (
        "z-score: this run against the mean and standard deviation of those before it, as the t statistic of a "
        "prediction interval, which knows that both are estimates."
    ),
    "percentile": (
        "Percentile: the rank of this run among those before it, on both sides; it asks nothing of a distribution."
    ),
}
SHARED = (
    "Values are compared by their logarithms where all are above 0, since noise is a share of what is measured; lines "
    "are means on that scale with t intervals. Over all KPIs of the run p-values are corrected for false discoveries "
    "(Benjamini and Hochberg), q is at most 0.05; a change must be at least {margin}, unless a rule of its own says "
    "otherwise. Better and worse follow the direction that a KPI declares."
)


@dataclass(frozen=True)
class PageRecording:
    """A recording as the page shows it."""

    label: str
    text: str
    blocks: tuple[Figure | Table, ...]


def write_trends(regression: Regression, output: Path, formats: tuple[Format, ...] = ()) -> Path:
    """Write regression.html, and its plots in *formats*, below *output*; the same verdict gives the same bytes."""
    error = regression.error
    page = {
        "what": "regressions",
        "title": regression.run,
        "reason": "" if error is None else str(error),
        "facts": _facts(regression),
    }
    shown = [_shown(regression, each, place) for place, each in enumerate(regression.recordings)]
    return _write(output / "regression.html", "regression", page, regression, shown, formats)


def history_page(folder: Path, page: Path, sorted_by: Sequence[str]) -> tuple[Path, tuple[Finding, ...]]:
    """Write the page of a history's folder; returns where, and what was left out of the history.

    Raises UsageError when it is none, or holds no run that went well.
    """
    history = load(folder)
    entries = history.entries()
    if not newest(entries):
        raise UsageError(f"{folder} holds no run that went well: there are no trends to show")
    options = Options(selection=Selection(sorted_by=tuple(sorted_by)))
    notes = tuple(f"{finding.where}: {finding.text}" for finding in history.findings)
    return write_history_page(entries, folder.resolve().name, page, options, notes), history.findings


def write_history_page(
    entries: Sequence[Entry], title: str, page: Path, options: Options, notes: tuple[str, ...] = ()
) -> Path:
    """Write a page with the trends of a history: each newest recording that others are alike, against those."""
    shown, verdicts = [], []
    for place, entry in enumerate(newest(entries)):
        regression = regress((entry,), entries, options, Acknowledged())
        (verdict,) = regression.recordings
        verdicts.append(verdict)
        shown.append(_shown(regression, verdict, place, several_runs=True))
    together = Regression(title, options, tuple(verdicts), notes)
    facts = (*_runs(entries, together), *_facts(together)[1:])
    head = {"what": "history", "title": title, "reason": "", "facts": facts}
    return _write(page, page.stem, head, together, shown, ())


def _runs(entries: Sequence[Entry], together: Regression) -> tuple[tuple[str, str], ...]:
    """How many runs the trends are of, and how many are in none, by what became of them."""
    shown = {entry.run for each in together.recordings for entry in (each.entry, *each.earlier)}
    absent = {entry.run: entry.status for entry in entries if entry.run not in shown}
    reasons = Counter("without a KPI" if status == "ok" else status for status in absent.values())
    others = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
    return (("Runs in trends", str(len(shown))), *((("In no trend", others),) if others else ()))


def newest(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Of the entries that may be compared with each other the newest that went well, in the order of their names."""
    found: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: (entry.started_s, entry.run)):
        if entry.status == "ok" and entry.kpis:
            found[repr((entry.flow, entry.kind, entry.marks, sorted(entry.keys.items(), key=str)))] = entry
    return tuple(sorted(found.values(), key=lambda entry: (str(entry.flow), entry.recording, entry.run)))


def _shown(
    regression: Regression, recording: RecordingVerdict, place: int, *, several_runs: bool = False
) -> PageRecording:
    figures = trend_figures(regression, recording, place)
    changed = tuple(figure for figure in figures if not figure.name.startswith("unchanged"))
    rest = tuple(figure for figure in figures if figure.name.startswith("unchanged"))
    suspects = suspects_table(recording)
    entry = recording.entry
    keys = told(dict(list(entry.keys.items())[:8])).strip(" ()")
    earlier = counted(len(recording.earlier), "earlier run")
    name = f"{entry.run}: {entry.recording}" if several_runs else entry.recording
    return PageRecording(
        label=name if len(name) < 80 else f"{name[:79]}\u2026",
        text=f"Against {earlier} with the same keys{f': {keys}' if keys else ''}.",
        blocks=(*changed, *((suspects,) if suspects is not None else ()), kpi_table(recording), *rest),
    )


def _facts(regression: Regression) -> tuple[tuple[str, str], ...]:
    options, selection = regression.options, regression.options.selection
    named = (
        ("Earlier runs", ", ".join(sorted({str(len(each.earlier)) for each in regression.recordings})) or "none"),
        ("Method", options.method),
        ("Margin", f"{100 * options.margin:g} %"),
        ("Compared across", ", ".join(sorted(selection.compared))),
        ("Ignored", ", ".join(sorted(selection.ignored))),
        ("Equal besides keys", ", ".join(sorted(selection.same))),
        ("Left out", ", ".join(f"{name}={value}" for name, value in selection.skipped)),
        ("Ordered by", ", ".join((*selection.sorted_by, "time"))),
    )
    return tuple((name, text) for name, text in named if text)


def _write(
    page: Path,
    prefix: str,
    head: dict[str, Any],
    regression: Regression,
    shown: Sequence[PageRecording],
    formats: tuple[Format, ...],
) -> Path:
    figures = [block for each in shown for block in each.blocks if isinstance(block, Figure)]
    drawn = named_figures(figures, prefix, formats)
    write_images(drawn, page.parent)
    write_text(page, _rendered(head, regression, shown, drawn))
    return page


def _rendered(
    head: dict[str, Any], regression: Regression, shown: Sequence[PageRecording], drawn: Iterable[Drawn]
) -> str:
    options = regression.options
    method = f"{METHODS[options.method]} {SHARED}".format(
        recent=counted(options.recent, "run"), margin=f"{100 * options.margin:g} %"
    )
    return (
        page_environment(drawn)
        .get_template("regression.html.j2")
        .render(
            **head,
            counts={word: count for word, count in regression.counts().items() if count},
            marks=phrases_of(regression.recordings),
            notes=regression.notes,
            groups=shown,
            method=method,
            assets=page_assets(),
        )
    )
