"""Thresholds: `{time_to_ready_p99: 5s, lost: 0, submission_rate: ">= 20/s"}`, checked before anything is measured."""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from perfanalysis.errors import UsageError
from perfanalysis.verdicts.thresholds.measured import Measure

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
}
BY_DIRECTION = {"lower": "<=", "higher": ">="}
LIMIT = re.compile(r"(?P<operator><=|>=|==|<|>)?\s*(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(?P<unit>\S*)")
DURATION = re.compile(r"(?P<operator><=|>=|==|<|>)?\s*(?P<parts>(?:\d+(?:\.\d+)?(?:us|µs|ms|s|min|m|h))+)")
PART = re.compile(r"(\d+(?:\.\d+)?)(us|µs|ms|s|min|m|h)")
SECONDS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
UNITS: Mapping[str, Mapping[str, float]] = {
    "seconds": {"": 1.0, **SECONDS},
    "ratio": {"": 1.0, "%": 0.01},
    "bytes": {"": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
}
RATE = {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600}
"""What may stand behind a number, by the measure's unit. Any other unit takes a bare number or its own name."""


@dataclass(frozen=True)
class Threshold:
    """A limit on a measure, in the measure's unit; `text` is it as its user wrote it."""

    measure: Measure
    operator: str
    limit: float
    text: str

    def holds(self, value: float) -> bool:
        """Whether a value keeps to the limit."""
        return OPERATORS[self.operator](value, self.limit)

    @property
    def name(self) -> str:
        """The threshold in words: `time_to_ready_p99 <= 5s`."""
        bare = self.text.lstrip("<>= ")
        return f"{self.measure.name} {self.operator} {bare}"


def parse_thresholds(given: Mapping[str, object], known: Mapping[str, Measure]) -> tuple[Threshold, ...]:
    """The thresholds of a mapping from names to limits.

    Raises UsageError naming every threshold that is wrong: an unknown name, a limit that is none, a measure of which
    neither way is better without an operator.
    """
    found: list[Threshold] = []
    wrong: list[str] = []
    for name, limit in given.items():
        try:
            found.append(parse_threshold(str(name), limit, known))
        except UsageError as error:
            wrong.append(str(error))
    if wrong:
        raise UsageError("; ".join(wrong))
    return tuple(found)


def parse_threshold(name: str, limit: object, known: Mapping[str, Measure]) -> Threshold:
    """One threshold. Raises UsageError saying what is wrong with it."""
    if name not in known:
        raise UsageError(f"threshold {name} is no measure{_did_you_mean(name, known)}")
    measure = known[name]
    text = str(limit).strip()
    if isinstance(limit, bool) or not isinstance(limit, int | float | str):
        raise UsageError(f"threshold {name}: {limit!r} is no limit; {_example(measure)}")
    sign, number = _limit(text, measure)
    if sign is None:
        sign = BY_DIRECTION.get(measure.direction)
    if sign is None:
        raise UsageError(f"threshold {name}: neither way is better, so say which: '<= {text}' or '>= {text}'")
    return Threshold(measure, sign, number, text)


def parse_words(words: Iterable[str]) -> dict[str, str]:
    """NAME=LIMIT of a command line, as a mapping; NAME>=LIMIT and the like give the operator.

    Raises UsageError for anything else, and for a name that is given twice.
    """
    found: dict[str, str] = {}
    for word in words:
        match = re.fullmatch(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*(<=|>=|==|<|>|=)\s*(.+?)\s*", word)
        if match is None:
            raise UsageError(f"{word!r} is no threshold; write NAME=LIMIT, such as time_to_ready_p99=5s")
        name, sign, limit = match.groups()
        if name in found:
            raise UsageError(f"threshold {name} is given twice")
        found[name] = limit if sign == "=" else f"{sign} {limit}"
    return found


def _limit(text: str, measure: Measure) -> tuple[str | None, float]:
    if measure.unit == "seconds":
        spelled = DURATION.fullmatch(text)
        if spelled is not None:
            parts = PART.findall(spelled["parts"])
            return spelled["operator"], sum(float(number) * SECONDS[unit] for number, unit in parts)
    match = LIMIT.fullmatch(text)
    units = UNITS.get(measure.unit, {"": 1.0, measure.unit: 1.0, **(RATE if _is_rate(measure) else {})})
    if match is None or match["unit"] not in units:
        raise UsageError(f"threshold {measure.name}: {text!r} is no limit in {measure.unit}; {_example(measure)}")
    number = float(match["number"]) * units[match["unit"]]
    if not math.isfinite(number):
        raise UsageError(f"threshold {measure.name}: {text!r} is too large")
    return match["operator"], number


def _example(measure: Measure) -> str:
    examples = {"seconds": "500ms or 5s", "ratio": "0.99 or 99%"}
    return f"write it like {examples.get(measure.unit, '20/s' if _is_rate(measure) else '10')}"


def _is_rate(measure: Measure) -> bool:
    return measure.unit.endswith("/s")


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    names = list(known)
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    # a step's name without a statistic is the likeliest slip of all
    found = found or sorted(one for one in names if one.startswith(f"{name}_"))[:1]
    return f"; did you mean {found[0]}?" if found else "; perfanalysis measures lists them"
