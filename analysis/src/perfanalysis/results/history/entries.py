"""What a history says of one recording of one run."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard, cast, get_args

from perfanalysis.files.discovery import Marks, marks_of
from perfanalysis.files.documents import Document, listing, mapping, number_or, parse_time, text_or_none
from perfanalysis.workloads.kpis import Direction, series_name


@dataclass(frozen=True, slots=True)
class KpiPoint:
    """A KPI of one recording; only what has a number is in a history."""

    name: str
    """With its own labels, where it has some: `waiting{tenant="a"}`."""
    help: str
    unit: str
    direction: Direction
    number: float


@dataclass(frozen=True, slots=True)
class Entry:
    """One recording. `keys` decide what it may be compared with, `facts` tell it from others of the same keys."""

    run: str
    flow: str | None
    status: str
    started: str | None
    started_s: float
    """Seconds since the epoch; of a run that does not say it, 0: before all others."""
    marks: Marks
    """What was simulated or emulated."""
    kind: str
    recording: str
    keys: Mapping[str, Any]
    facts: Mapping[str, Any]
    kpis: Mapping[str, KpiPoint]

    def value(self, name: str) -> Any:
        """A key or a fact by its name; None when there is neither."""
        return self.keys[name] if name in self.keys else self.facts.get(name)


def entries_of(document: Document) -> tuple[Entry, ...]:
    """The entries of a document psap.perf/history/1."""
    started = text_or_none(document.get("started"))
    facts = mapping(document.get("facts"))
    return tuple(
        Entry(
            run=str(document.get("run")),
            flow=text_or_none(document.get("flow")),
            status=str(document.get("status")),
            started=started,
            started_s=number_or(parse_time(started), 0.0),
            marks=marks_of(document),
            kind=str(recording.get("kind")),
            recording=str(recording.get("recording")),
            keys=mapping(recording.get("keys")),
            facts=facts,
            kpis={point.name: point for point in _points(recording)},
        )
        for recording in map(mapping, listing(document.get("recordings")))
    )


def _is_number(value: object) -> TypeGuard[float]:
    """Whether it is one that a double holds; JSON has integers of any length."""
    return not isinstance(value, bool) and isinstance(value, int | float) and abs(value) <= sys.float_info.max


def _points(recording: Document) -> list[KpiPoint]:
    points = []
    for kpi in map(mapping, listing(recording.get("kpis"))):
        value, direction = kpi.get("value"), kpi.get("direction")
        if not _is_number(value) or direction not in get_args(Direction):
            continue
        labels = {str(key): str(text) for key, text in mapping(kpi.get("labels")).items()}
        name = series_name(str(kpi.get("name")), labels)
        told, unit = str(kpi.get("help", "")), str(kpi.get("unit", ""))
        points.append(KpiPoint(name, told, unit, cast(Direction, direction), float(value)))
    return points
