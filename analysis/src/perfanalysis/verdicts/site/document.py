"""The data of a site: runs, tests, and each KPI of a test over its runs, with its verdict and its changes.

A test is a set of comparable recordings: the same flow, kind, lab and keys. The page's script reads the document, so
names are short where there are many values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from perfanalysis.drawing.blocks import quantity
from perfanalysis.drawing.wording import value_text
from perfanalysis.files.documents import Document, listing, mapping
from perfanalysis.results.history.documents import Entry, entries_of
from perfanalysis.results.scrubbing import Rules, scrub
from perfanalysis.verdicts.comparison.tables import change_cell
from perfanalysis.verdicts.regression.methods import Effect, Level, effect
from perfanalysis.verdicts.regression.page import axis_scale
from perfanalysis.verdicts.regression.verdict import CHANGED, Change, KpiVerdict, Options, regress, word_of
from perfanalysis.verdicts.regression.watched import Acknowledged

DIGITS = 6
"""Significant digits of a value in the page."""
VERSIONS = ("cluster.version", "git.commit", "version.")
"""Beginnings of the names of facts that are versions."""
LinkOf = Callable[[str], str]
"""Returns the address of a run's report, or an empty text."""


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """How a site is made; `rules` remove names of machines and people, addresses and secrets."""

    judging: Options
    link: LinkOf
    rules: Rules


def site_document(documents: Sequence[Document], options: SiteOptions) -> Document:
    """Return the data of the page; the same history gives the same data."""
    public = [scrub(_head(document), options.rules) for document in documents]
    places = {str(document["run"]): place for place, document in enumerate(documents)}
    tests: defaultdict[str, list[tuple[Entry, Mapping[str, Any]]]] = defaultdict(list)
    for document, head in zip(documents, public, strict=True):
        for entry, shown in zip(entries_of(document), listing(head.get("recordings")), strict=True):
            if entry.status == "ok" and entry.kpis:
                tests[_identity(entry)].append((entry, mapping(shown)))
    found = sorted(tests.values(), key=lambda test: (str(test[0][0].flow), str(test[-1][1].get("recording"))))
    return {
        "runs": [_run(document, head, options.link) for document, head in zip(documents, public, strict=True)],
        "tests": [_test(*test[-1]) for test in found],
        "series": [
            {"test": number, **series}
            for number, test in enumerate(found)
            for series in _series([entry for entry, _ in test], places, options)
        ],
    }


def _head(document: Document) -> Document:
    """Return the document without its KPIs, whose numbers and names need no scrubbing."""
    recordings = [
        {name: part for name, part in mapping(recording).items() if name != "kpis"}
        for recording in listing(document.get("recordings"))
    ]
    return {**document, "recordings": recordings}


def _identity(entry: Entry) -> str:
    return repr((entry.flow, entry.kind, entry.lab, sorted(entry.keys.items(), key=str)))


def _run(document: Document, head: Document, link: LinkOf) -> Document:
    facts = mapping(head.get("facts"))
    return {
        "id": str(head["run"]),
        "flow": str(head.get("flow") or ""),
        "status": str(head.get("status") or "unknown"),
        "started": head.get("started"),
        "versions": {name: value_text(value) for name, value in facts.items() if name.startswith(VERSIONS)},
        "report": link(str(document["run"])),
    }


def _test(entry: Entry, shown: Mapping[str, Any]) -> Document:
    return {
        "flow": str(entry.flow or ""),
        "name": str(shown.get("recording")),
        "keys": {name: value_text(value) for name, value in mapping(shown.get("keys")).items()},
        "lab": entry.lab.line,
    }


def _series(entries: Sequence[Entry], places: Mapping[str, int], options: SiteOptions) -> Iterator[Document]:
    """Yield each KPI of a test, also one that the newest runs do not have."""
    newest: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: (entry.started_s, entry.run)):
        newest.update(dict.fromkeys(entry.kpis, entry))
    last: defaultdict[int, list[str]] = defaultdict(list)
    found = {id(entry): entry for entry in newest.values()}
    for name, entry in newest.items():
        last[id(entry)].append(name)
    for number, names in last.items():
        entry = found[number]
        current = replace(entry, kpis={name: entry.kpis[name] for name in names})
        (judged,) = regress((current,), entries, options.judging, Acknowledged()).recordings
        for kpi in judged.kpis:
            yield {**_kpi(kpi, places, options.judging.margin), **_name(kpi, options.rules)}


def _name(verdict: KpiVerdict, rules: Rules) -> Document:
    """Return name and help, whose labels may name machines or people."""
    return scrub({"kpi": verdict.kpi.series, "help": verdict.kpi.help}, rules)


def _kpi(verdict: KpiVerdict, places: Mapping[str, int], margin: float) -> Document:
    kpi = verdict.kpi
    entries, values = ((), (kpi.known,)) if verdict.series is None else (verdict.series.entries, verdict.series.values)
    numbers = np.asarray(values, dtype=float)
    factor, unit = axis_scale(kpi.unit, numbers)
    return {
        "unit": unit,
        "better": str(verdict.direction),
        "word": verdict.word,
        "reason": verdict.reason,
        "newest": quantity(kpi.known, kpi.unit),
        "change": "" if verdict.change is None or verdict.word not in CHANGED else _text(verdict.change.effect),
        "runs": [places[entry.run] for entry in entries],
        "values": [_short(factor * value) for value in values],
        "steps": list(_steps(verdict, margin)),
        "levels": [_level(level, factor) for level in verdict.levels],
    }


def _steps(verdict: KpiVerdict, margin: float) -> Iterator[Document]:
    """Yield the changes of level that are at least as large as the margin: index, word, and size."""
    if verdict.series is None:
        return
    values = np.asarray(verdict.series.values, dtype=float)
    ends = (0, *verdict.began, len(values))
    for (begin, place), end in zip(pairwise(ends[:-1]), ends[2:], strict=True):
        size = effect(values[begin:place], values[place:end])
        # significant by itself, or its level would not begin here
        change = Change(verdict.series.entries[place], end - place, size, p=0.0, q=0.0)
        newest = end == len(values) and verdict.word in CHANGED
        word = verdict.word if newest else word_of(verdict.kpi, change, margin, verdict.watch)
        if word != "same":
            yield {"at": place, "word": word, "text": _text(size)}


def _text(size: Effect) -> str:
    return change_cell(size.change).text or f"{_short(size.before)} to {_short(size.after)}"


def _level(level: Level, factor: float) -> list[float | int | None]:
    low, high = (None if end is None else _short(factor * end) for end in (level.low, level.high))
    return [level.begin, level.end, _short(factor * level.value), low, high]


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
