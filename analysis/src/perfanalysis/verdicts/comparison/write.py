"""Write a comparison: comparison.json, comparison.md, and comparison.html with its figures.

The document is psap.perf/comparison/1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from perfanalysis.drawing.blocks import Section
from perfanalysis.drawing.charts import Figure
from perfanalysis.drawing.matplotlib import Format
from perfanalysis.drawing.page import Drawn, page_assets, page_environment, write_images
from perfanalysis.files.documents import Document, write_json, write_text
from perfanalysis.verdicts.comparison.comparison import Comparison, Group, PairComparison, StepComparison
from perfanalysis.verdicts.comparison.figures import change_figure, distribution_figure
from perfanalysis.verdicts.comparison.pairs import UNKNOWN
from perfanalysis.verdicts.comparison.statistics import Difference
from perfanalysis.verdicts.comparison.tables import (
    counts,
    differences_table,
    kpi_table,
    latency_table,
    overview_table,
    sides_table,
    unmatched,
)
from perfanalysis.verdicts.comparison.texts import comparison_markdown
from perfanalysis.workloads.kpis import declared
from perfanalysis.workloads.percentiles import STATED


def comparison_document(comparison: Comparison) -> Document:
    """Return the complete comparison; missing values are null with a reason."""
    return {
        "schema": "psap.perf/comparison/1",
        "runs": [side.name for side in comparison.sides],
        "headings": list(comparison.headings),
        "margin": comparison.margin,
        "percentiles": comparison.method,
        "labs": [side.lab.document() for side in comparison.sides],
        "notes": [*comparison.data_errors, *comparison.notes],
        "data_errors": list(comparison.data_errors),
        "only": [list(labels) for labels in comparison.only],
        "differences": [
            {"name": each.name, "values": list(each.values), "known": list(each.known)}
            for each in comparison.differences
        ],
        "pairs": [_pair(pair) for pair in comparison.pairs],
    }


def _pair(pair: PairComparison) -> Document:
    return {
        "run": pair.run,
        "label": pair.label,
        "labels": [dict(labels) for labels in pair.labels],
        "settings": dict(pair.settings),
        "differing": {
            name: [None if value is UNKNOWN else value for value in values] for name, values in pair.differing.items()
        },
        "steps": [_step(step) for step in pair.steps],
        "kpis": [{**declared(each.kpi), "name": each.kpi.series, **_difference(each.difference)} for each in pair.kpis],
    }


def _step(step: StepComparison) -> Document:
    return {
        "name": step.name,
        "help": step.help,
        "unit": step.unit,
        "direction": step.direction,
        "counts": list(step.counts),
        "cliffs_delta": step.delta,
        "differences": [{"statistic": each.statistic, **_difference(each)} for each in step.differences],
    }


def _difference(difference: Difference) -> Document:
    return {
        "values": [difference.first, difference.second],
        "difference": difference.difference,
        "relative": difference.relative,
        "low": difference.low,
        "high": difference.high,
        "verdict": difference.word,
        "reason": difference.reason,
    }


DOCUMENT_FILE = "comparison.json"
MARKDOWN_FILE = "comparison.md"
PAGE_FILE = "comparison.html"


@dataclass(frozen=True)
class Written:
    """The paths of a comparison's files."""

    document: Path
    markdown: Path
    page: Path
    plots: tuple[Path, ...]


def write_comparison(comparison: Comparison, target: Path, formats: tuple[Format, ...] = ()) -> Written:
    """Write all files below *target*, each figure as files of *formats*; equal comparisons have equal bytes."""
    groups = tuple(_page_group(group, place, comparison) for place, group in enumerate(comparison.groups))
    figures = [block for group in groups for block in group.blocks if isinstance(block, Figure)]
    drawn = named_figures(figures, "comparison", formats)
    plots = write_images(drawn, target)
    write_json(target / DOCUMENT_FILE, comparison_document(comparison))
    write_text(target / MARKDOWN_FILE, comparison_markdown(comparison))
    write_text(target / PAGE_FILE, _page(comparison, groups, drawn))
    return Written(target / DOCUMENT_FILE, target / MARKDOWN_FILE, target / PAGE_FILE, plots)


def named_figures(figures: Iterable[Figure], prefix: str, formats: tuple[Format, ...]) -> tuple[Drawn, ...]:
    """Return figures with the names of their files."""
    return tuple(Drawn("", figure, f"{prefix}.{figure.name}", formats) for figure in figures)


def _page_group(group: Group, place: int, comparison: Comparison) -> Section:
    blocks = (
        change_figure(comparison, group, place),
        latency_table(comparison, group),
        distribution_figure(comparison, group, place),
        kpi_table(comparison, group),
    )
    return Section(f"group_{place}", group.label, "", tuple(block for block in blocks if block is not None))


def _page(comparison: Comparison, groups: tuple[Section, ...], drawn: Iterable[Drawn]) -> str:
    template = page_environment(drawn).get_template("comparison.html.j2")
    return template.render(
        title=", ".join(side.name for side in comparison.sides[1:]),
        baseline=comparison.sides[0].name,
        counts=counts(comparison),
        percentiles=STATED[comparison.method],
        margin=f"{100 * comparison.margin:g} %",
        marks=comparison.lab.phrases,
        data_errors=comparison.data_errors,
        notes=(*comparison.notes, *unmatched(comparison)),
        sides=sides_table(comparison),
        differences=differences_table(comparison),
        overview=overview_table(comparison),
        groups=groups,
        assets=page_assets(),
    )
