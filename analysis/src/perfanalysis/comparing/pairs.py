"""Which recordings of several sides may be compared: those whose settings marked `compare: key` are equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfanalysis.discover import Run
from perfanalysis.documents import mapping
from perfanalysis.errors import UsageError
from perfanalysis.workload_type import Analysis

if TYPE_CHECKING:
    from perfanalysis.comparing.sides import Recording, Side

MOST_TOLD = 8


def key_settings(run: Run) -> dict[str, Any]:
    """The settings of a run that decide whether its results can be compared with others'."""
    entries = ((name, mapping(entry)) for name, entry in mapping(run.settings.get("all")).items())
    return {name: entry.get("value") for name, entry in entries if entry.get("compare") == "key"}


def settings_of(analysis: Analysis, run: Run) -> dict[str, Any]:
    """The same for one recording: a cell's values stand above those of the run, and its own facts beside them.

    A value whose name begins with @ only counts repetitions of one test: it decides nothing.
    """
    cell = analysis.place.cell
    values = {} if cell is None else {name: value for name, value in cell.values.items() if not name.startswith("@")}
    return {**key_settings(run), **values, **analysis.facts}


@dataclass(frozen=True)
class Row:
    """A recording of the baseline, and the one of each side that it is compared with, by the side's place."""

    baseline: Recording
    others: Mapping[int, Recording]


@dataclass(frozen=True)
class Matched:
    """The rows, and of each side the recordings without any counterpart."""

    rows: tuple[Row, ...]
    only: tuple[tuple[Recording, ...], ...]
    notes: tuple[str, ...]


def match(sides: Sequence[Side], *, force: bool) -> Matched:
    """Find for each recording of the first side the first free one of every other that has equal settings.

    Raises UsageError naming what differs when a side has no counterpart for any; with `force` its recordings are then
    taken in their order.
    """
    for side in sides:
        if not side.recordings:
            raise UsageError(f"{side.name} holds no recording: there is nothing to compare")
    baseline = sides[0]
    found: list[dict[int, Recording]] = [{} for _ in baseline.recordings]
    only: list[tuple[Recording, ...]] = [()]
    for place, side in enumerate(sides[1:], start=1):
        paired, free = _paired(baseline.recordings, side.recordings)
        if not any(paired):
            if not force or not _of_one_kind(baseline, side):
                raise UsageError(_refusal(baseline, side))
            paired = [*side.recordings[: len(found)], *[None] * (len(found) - len(side.recordings))]
            free = list(side.recordings[len(found) :])
        only.append(tuple(free))
        for others, other in zip(found, paired, strict=True):
            if other is not None:
                others[place] = other
    both = list(zip(baseline.recordings, found, strict=True))
    only[0] = tuple(recording for recording, others in both if not others)
    rows = tuple(Row(recording, others) for recording, others in both if others)
    return Matched(rows, tuple(only), _notes(sides))


def _paired(
    baseline: Sequence[Recording], recordings: Sequence[Recording]
) -> tuple[list[Recording | None], list[Recording]]:
    """The counterpart of each recording of the baseline, and those left over."""
    free = list(recordings)
    paired: list[Recording | None] = []
    for recording in baseline:
        alike = (place for place, other in enumerate(free) if _may_be_compared(recording, other))
        place = next(alike, None)
        paired.append(None if place is None else free.pop(place))
    return paired, free


def _may_be_compared(first: Recording, second: Recording) -> bool:
    return first.kind == second.kind and not differing(first.keys, second.keys)


def _notes(sides: Sequence[Side]) -> tuple[str, ...]:
    return tuple(
        f"{side.name} does not say which of its settings must be equal: only the values of its cells were looked at"
        for side in sides
        if side.keyless
    )


def differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Settings with other values in B than in A; one that only one of them has is no difference, it is unknown."""
    both = [name for name in first if name in second]
    return {name: (first[name], second[name]) for name in both if first[name] != second[name]}


def _of_one_kind(baseline: Side, side: Side) -> bool:
    return any(recording.kind == other.kind for recording in baseline.recordings for other in side.recordings)


def _refusal(baseline: Side, side: Side) -> str:
    """Why no recordings can be compared, by the first of each."""
    first, second = baseline.recordings[0], side.recordings[0]
    if not _of_one_kind(baseline, side):
        other = f"{first.kind} the one, {second.kind} the other"
        return f"{baseline.name} and {side.name} cannot be compared: they hold recordings of other kinds, {other}"
    told = [f"{name} ({one!r} and {other!r})" for name, (one, other) in differing(first.keys, second.keys).items()]
    if not told:
        return f"{baseline.name} and {side.name} cannot be compared: they hold recordings of other kinds"
    more = f" and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    return (
        f"{baseline.name} and {side.name} cannot be compared: settings that must be equal differ: "
        f"{', '.join(told[:MOST_TOLD])}{more}; --force compares them all the same"
    )
