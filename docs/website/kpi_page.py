"""The page of all KPIs, from their declarations; what they are computed by also from the pages that say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from perfanalysis.workloads.declared.loading import declaration
from perfanalysis.workloads.declared.model import KpiDeclared
from perfanalysis.workloads.kinds import PYTHON_KINDS, SHIPPED, shipped
from perfanalysis.workloads.kpis import Kpi
from perfanalysis.workloads.scale_test.section_tables import FORMULAS

from docs.website.markdown_pages import Page

_LOADS = ("aiperf.json", "guidellm.json", "inference_perf.json", "llm_load_test.json", "vllm_bench.json")
_EXPLAINED_IN = {"recording.json": "analysis", "fine_tuning.json": "fine-tuning", **dict.fromkeys(_LOADS, "load-tests")}
"""The page whose tables have the formulas of a kind that is written in Python, by its marker."""
_NAME = re.compile(r"`([a-z0-9_]+)`")
# the formula is in a section of the page
_ELSEWHERE = re.compile(r"\[?above\b.*")
_BETTER = {"higher": "higher", "lower": "lower", "neither": "\u2013"}


def kpi_page(docs: Path) -> Iterator[str]:
    """Yield the lines of the page; *docs* has the pages that explain KPIs."""
    yield from ("# KPIs", "")
    yield "Generated from the declarations in `perfanalysis`. Estimators and intervals are described in"
    yield "[Analysis](../analysis.md#percentiles-and-intervals), thresholds in [judging](../judging.md)."
    declared = {one.marker: one for one in map(declaration, (path.parent for path in SHIPPED.glob("*/workload.yml")))}
    for marker, kind in shipped().all.items():
        if marker in PYTHON_KINDS:
            page = _EXPLAINED_IN[marker]
            formulas = _formulas(page, (docs / f"{page}.md").read_text(encoding="utf-8"))
            further = f"Details: [{page}](../{page}.md#kpis). "
        else:
            formulas = {one.name: _statistic(entry) for entry in declared[marker].kpis for one in entry.each}
            further = ""
        yield from ("", f"## {_words(kind.name)}", "")
        yield f"{further}These are the KPIs of recordings with the file `{marker}`."
        yield from ("", "| KPI | unit | better | meaning | formula |", "|---|---|---|---|---|")
        for _measure, kpis in groupby(kind.kpis, lambda kpi: kpi.of.measure if kpi.of else kpi.name):
            yield _row(tuple(kpis), formulas)


def _row(kpis: Sequence[Kpi[Any]], formulas: Mapping[str, str]) -> str:
    """Return a row for the statistics of one measure, or for a single KPI."""
    first = kpis[0]
    names = ", ".join(f"`{kpi.name}`" for kpi in kpis)
    texts = dict.fromkeys(formula for kpi in kpis if (formula := formulas.get(kpi.name)))
    if first.of is None:
        what, formula = first.help, "; ".join(texts)
    else:
        what, statistics = first.of.help, ", ".join(kpi.of.statistic for kpi in kpis if kpi.of)
        formula = "; ".join(texts) or f"{statistics} of it"
    return f"| {names} | {first.unit} | {_BETTER[first.direction]} | {_cell(what)} | {_cell(formula)} |"


def _formulas(name: str, text: str) -> Mapping[str, str]:
    """Return the formulas in a page's tables of KPIs, by KPI."""
    found: dict[str, str] = {}
    for head, *rows in Page(text).tables():
        if head[:3] == ("KPI", "unit", "better"):
            for first, _unit, _better, *cells in rows:
                formula = cells[0] if len(cells) == 1 else "; ".join(map("{}: {}".format, head[3:], cells))
                names = _NAME.findall(first)
                each = formula.split("; ")
                for kpi, text in zip(names, each if len(each) == len(names) else [formula] * len(names), strict=True):
                    found[kpi] = f"see [{name}](../{name}.md#kpis)" if _ELSEWHERE.match(text) else _moved(text, name)
    own = {one.kpi: one.formula for one in FORMULAS} if name == _EXPLAINED_IN["recording.json"] else {}
    return {**found, **own}


def _moved(text: str, page: str) -> str:
    """Return a text of a page in the parent folder, with links relative to this folder."""
    text = text.replace("](#", f"](../{page}.md#")
    return re.sub(r"\]\((?=[\w-]+\.md)", "](../", text)


def _statistic(kpi: KpiDeclared) -> str:
    if kpi.function is not None:
        return f"`{kpi.function}`"
    rows = " and ".join(f"`{column}` is {_value(value)}" for column, value in kpi.where.items())
    statistics = kpi.statistic if isinstance(kpi.statistic, tuple) else (kpi.statistic,)
    return f"{', '.join(map(str, statistics))} of `{kpi.of}`{f', of rows whose {rows}' if rows else ''}"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return " or ".join(map(_value, value))
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
