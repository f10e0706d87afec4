"""Find recordings of several sides that may be compared: their settings marked `compare: key` are equal.

Also find settings, versions and other facts that differ between the sides: possible causes of a change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfanalysis.drawing.wording import listed, value_text
from perfanalysis.errors import UsageError, did_you_mean
from perfanalysis.verdicts.comparison.sides import Recording, Side

Differing = Mapping[str, tuple[Any, Any]]
"""Keys with their value in A and in B."""
MOST_LISTED = 8
KEYLESS = "{} does not state which of its settings must be equal: only keys of both runs were compared"
UNKNOWN = object()
"""Replaces a value that only the other side has."""


@dataclass(frozen=True)
class Row:
    """A recording of the baseline, and its counterpart of each side, by the side's index."""

    baseline: Recording
    others: Mapping[int, Recording]
    differing: Mapping[int, Differing]
    """For each of the others, the keys that differ; not empty only if the comparison was forced."""


@dataclass(frozen=True)
class Matched:
    """The rows, and for each side the recordings without any counterpart."""

    rows: tuple[Row, ...]
    only: tuple[tuple[Recording, ...], ...]
    notes: tuple[str, ...]


def match(sides: Sequence[Side], *, force: bool, ignored: frozenset[str] = frozenset()) -> Matched:
    """Find for each recording of the first side the first free one of every other side with equal settings.

    Names in *ignored* are not compared. Raises UsageError for a name that no side has, and with the differences if a
    side has no counterpart for any recording; with `force`, its recordings are then used in order.
    """
    _check_names(ignored, sides)
    for side in sides:
        if not side.recordings:
            raise UsageError(f"{side.name} has no recording: nothing to compare")
    baseline = sides[0]
    rules = [Rule(ignored, both_only=baseline.keyless or side.keyless) for side in sides]
    found: list[dict[int, Recording]] = [{} for _ in baseline.recordings]
    only: list[tuple[Recording, ...]] = [()]
    for place, side in enumerate(sides[1:], start=1):
        paired, free = _paired(baseline.recordings, side.recordings, rules[place])
        if not any(paired):
            if not force or not _of_one_kind(baseline, side):
                raise UsageError(_refusal(baseline, side, rules[place]))
            paired = [*side.recordings[: len(found)], *[None] * (len(found) - len(side.recordings))]
            free = list(side.recordings[len(found) :])
        only.append(tuple(free))
        for others, other in zip(found, paired, strict=True):
            if other is not None:
                others[place] = other
    both = list(zip(baseline.recordings, found, strict=True))
    only[0] = tuple(recording for recording, others in both if not others)
    rows = tuple(_row(recording, others, rules) for recording, others in both if others)
    return Matched(rows, tuple(only), tuple(dict.fromkeys(KEYLESS.format(side.name) for side in sides if side.keyless)))


def _row(baseline: Recording, others: Mapping[int, Recording], rules: Sequence[Rule]) -> Row:
    found = {place: differing(baseline.keys, other.keys, rules[place]) for place, other in others.items()}
    return Row(baseline, others, found)


@dataclass(frozen=True)
class Rule:
    """Which keys may differ."""

    free: frozenset[str] = frozenset()
    both_only: bool = False
    """Whether only keys that both have are compared: if one of them does not state which settings are keys."""


def _check_names(names: frozenset[str], sides: Sequence[Side]) -> None:
    known = {name for side in sides for recording in side.recordings for name in recording.keys}
    for name in sorted(names - known):
        meant = did_you_mean(name, known, 0.5)
        raise UsageError(f"--ignore {name}: none of these runs has this key{f'; {meant}' if meant else ''}")


def _paired(
    baseline: Sequence[Recording], recordings: Sequence[Recording], rule: Rule
) -> tuple[list[Recording | None], list[Recording]]:
    """Return the counterpart of each recording of the baseline, and the remaining ones."""
    free = list(recordings)
    paired: list[Recording | None] = []
    for recording in baseline:
        alike = (
            place
            for place, other in enumerate(free)
            if recording.kind == other.kind and not differing(recording.keys, other.keys, rule)
        )
        place = next(alike, None)
        paired.append(None if place is None else free.pop(place))
    return paired, free


def differing(first: Mapping[str, Any], second: Mapping[str, Any], rule: Rule) -> Differing:
    """Return keys with other values in B than in A, in order; a key of only one of them differs."""
    names = dict.fromkeys(name for name in (*first, *second) if name not in rule.free)
    values = {name: (first.get(name, UNKNOWN), second.get(name, UNKNOWN)) for name in names}
    return {
        name: both for name, both in values.items() if both[0] != both[1] and not (rule.both_only and UNKNOWN in both)
    }


def differences_text(values: Differing) -> tuple[str, ...]:
    """Return `NAME (4 and 8)` for each, `NAME (not known and 8)` if only one has it."""
    return tuple(
        f"{name} ({_value_or_unknown(first)} and {_value_or_unknown(second)})"
        for name, (first, second) in values.items()
    )


def _value_or_unknown(value: Any) -> str:
    return "not known" if value is UNKNOWN else value_text(value) or '""'


def _of_one_kind(baseline: Side, side: Side) -> bool:
    return any(recording.kind == other.kind for recording in baseline.recordings for other in side.recordings)


def _refusal(baseline: Side, side: Side, rule: Rule) -> str:
    """Return why no recordings can be compared, by the first of each."""
    first, second = baseline.recordings[0], side.recordings[0]
    if not _of_one_kind(baseline, side):
        other = f"{first.kind} and {second.kind}"
        return f"cannot compare {baseline.name} and {side.name}: they have different kinds of recordings, {other}"
    different = differences_text(differing(first.keys, second.keys, rule))
    if not different:
        return f"cannot compare {baseline.name} and {side.name}: they have different kinds of recordings"
    return (
        f"cannot compare {baseline.name} and {side.name}: settings that must be equal differ: "
        f"{listed(different, MOST_LISTED)}; ignore one with --ignore KEY, or all with --force"
    )


@dataclass(frozen=True)
class FactDifference:
    """A setting or fact with its value of every side; `known` states which sides have it."""

    name: str
    values: tuple[Any, ...]
    known: tuple[bool, ...]


def fact_differences(sides: Sequence[Side]) -> tuple[FactDifference, ...]:
    """Return every fact that is not equal in all sides; missing ones are different."""
    names = dict.fromkeys(name for side in sides for name in side.facts)
    found = []
    for name in names:
        values = [side.facts.get(name, UNKNOWN) for side in sides]
        if any(value != values[0] for value in values[1:]):
            known = tuple(value is not UNKNOWN for value in values)
            shown = tuple(None if value is UNKNOWN else value for value in values)
            found.append(FactDifference(name, shown, known))
    return tuple(found)
