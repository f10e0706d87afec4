"""Which KPIs are judged, and how, where not all of them are judged alike."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

from perfanalysis.drawing.wording import value_text
from perfanalysis.errors import UsageError
from perfanalysis.files.documents import load_yaml, mapping
from perfanalysis.results.history.entries import Entry
from perfanalysis.verdicts.comparison.commands import share
from perfanalysis.workloads.kpis import Direction

Better = Direction | Literal["either"]
"""Which way is better; `either`: a change is worse whichever way it goes."""


@dataclass(frozen=True, slots=True)
class Watch:
    """KPIs to judge, and how; None: as the KPI declares, or as the options say."""

    kpi: str
    """A name as in the history; `*` stands for any letters."""
    direction: Better | None = None
    margin: float | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Only in recordings whose keys or facts have these values; empty: in all."""
    confirmed_by: str | None = None
    """A change counts only when this KPI of the same recording changed too …"""
    within: int = 5
    """… at most so many runs away."""

    def fits(self, kpi: str, entry: Entry) -> bool:
        """Whether it says how that KPI of that recording is judged."""
        return fnmatch.fnmatchcase(kpi, self.kpi) and all(
            entry.value(name) == value for name, value in self.keys.items()
        )


EVERYTHING = Watch("*")


def watch_of(watched: Sequence[Watch], kpi: str, entry: Entry) -> Watch | None:
    """The first that fits; None for a KPI that is not to be judged. With none at all, each KPI is, as it declares."""
    return next((watch for watch in watched or (EVERYTHING,) if watch.fits(kpi, entry)), None)


def unseen(watched: Sequence[Watch], current: Sequence[Entry]) -> tuple[str, ...]:
    """A sentence for each that fits no KPI of any recording."""
    return tuple(
        f"watched, but in no recording: {watch.kpi}{told(watch.keys)}"
        for watch in watched
        if not any(watch.fits(kpi, entry) for entry in current for kpi in entry.kpis)
    )


def told(keys: Mapping[str, Any]) -> str:
    """` (key value, …)`, or nothing."""
    return f" ({', '.join(f'{name} {value_text(value)}' for name, value in keys.items())})" if keys else ""


KNOWN = ("kpi", "direction", "margin", "keys", "confirmed_by", "within")
DIRECTIONS = (*get_args(Direction), "either")


def read_watched(path: Path) -> tuple[Watch, ...]:
    """Read a YAML list of `{kpi}` with perhaps direction, margin, keys, confirmed_by and within.

    Raises UsageError naming the entry and what is wrong with it.
    """
    try:
        loaded = load_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    if not isinstance(loaded, list) or not loaded:
        raise UsageError(f"{path} must be a list of entries, each with kpi")
    return tuple(_watch(entry, f"{path}: entry {number}") for number, entry in enumerate(loaded, start=1))


def _watch(entry: object, where: str) -> Watch:
    given = mapping(entry)
    unknown = ", ".join(sorted(str(name) for name in given if name not in KNOWN))
    if unknown or not isinstance(given.get("kpi"), str):
        raise UsageError(f"{where}: {f'unknown: {unknown}; known: ' + ', '.join(KNOWN) if unknown else 'missing: kpi'}")
    direction, within = given.get("direction"), given.get("within", 5)
    if direction not in (None, *DIRECTIONS):
        raise UsageError(f"{where}: direction {direction!r} is none of {', '.join(DIRECTIONS)}")
    if not isinstance(within, int) or isinstance(within, bool) or within < 0:
        raise UsageError(f"{where}: within must be a number of runs, not {within!r}")
    confirmed_by = given.get("confirmed_by")
    return Watch(
        kpi=given["kpi"],
        direction=cast(Better | None, direction),
        margin=None if given.get("margin") is None else _margin(given["margin"], where),
        keys=mapping(given.get("keys")),
        confirmed_by=None if confirmed_by is None else str(confirmed_by),
        within=within,
    )


def _margin(value: object, where: str) -> float:
    try:
        return share(str(value))
    except UsageError as error:
        raise UsageError(f"{where}: margin {value!r}: write a share such as 5% or 0.05") from error
