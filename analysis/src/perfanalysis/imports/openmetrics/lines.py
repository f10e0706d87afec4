"""One line of OpenMetrics text: a sample with its labels, value, timestamp and exemplar."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
VALUE = re.compile(r'="((?:[^"\\\n]|\\[^\n])*)"')
NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[iI]nf(?:inity)?|[nN]a[nN])")
REAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
ESCAPED = re.compile(r'\\([\\"n])')
EXEMPLAR_LENGTH = 128


class MalformedError(ValueError):
    """What is wrong with a line, without its place."""


@dataclass(frozen=True, slots=True)
class SampleLine:
    """The parts of a line."""

    name: str
    labels: dict[str, str]
    value: float
    at_s: float | None
    exemplar: bool


def sample_line(line: str) -> SampleLine:
    """Read `name{label="text"} value timestamp # {label="text"} value timestamp`. Raises MalformedError."""
    match = NAME.match(line)
    if match is None:
        raise MalformedError("it begins with no name of a metric")
    name, rest = match[0], line[match.end() :]
    labels: dict[str, str] = {}
    if rest.startswith("{"):
        labels, rest = _labels(rest)
    if not rest.startswith(" "):
        raise MalformedError(f"one space must follow {name} and its labels")
    numbers, mark, exemplar = rest[1:].partition(" # ")
    value, at_s = _value_and_time(numbers)
    if mark:
        _check_exemplar(exemplar)
    return SampleLine(name, labels, value, at_s, bool(mark))


def _labels(text: str) -> tuple[dict[str, str], str]:
    """The labels in braces, and what comes after them."""
    found: dict[str, str] = {}
    place = 1
    while not text.startswith("}", place):
        if found:
            if not text.startswith(",", place):
                raise MalformedError("labels must be parted by commas and end with a brace")
            place += 1
        name = LABEL.match(text, place)
        value = None if name is None else VALUE.match(text, name.end())
        if name is None or value is None:
            raise MalformedError(
                f'a label must be name="text" with only \\\\, \\" and \\n escaped, at {text[place:][:20]!r}'
            )
        if name[0] in found:
            raise MalformedError(f"the label {name[0]} is there twice")
        found[name[0]] = unescaped(value[1])
        place = value.end()
    return found, text[place + 1 :]


def unescaped(text: str) -> str:
    """A text with its escapes replaced: those of a line's end, of a quotation mark, and of a backslash itself."""
    return ESCAPED.sub(lambda match: "\n" if match[1] == "n" else match[1], text)


def _value_and_time(text: str) -> tuple[float, float | None]:
    parts = text.split(" ")
    if len(parts) > 2:
        raise MalformedError("after the value there may be one timestamp, each after one space")
    if NUMBER.fullmatch(parts[0]) is None:
        raise MalformedError(f"{parts[0]!r} is no number")
    return float(parts[0]), None if len(parts) == 1 else _time(parts[1])


def _time(text: str) -> float:
    at_s = float(text) if REAL.fullmatch(text) else math.nan
    if not math.isfinite(at_s):
        raise MalformedError(f"{text!r} is no timestamp in seconds")
    return at_s


def _check_exemplar(text: str) -> None:
    if not text.startswith("{"):
        raise MalformedError("an exemplar must begin with labels in braces")
    labels, rest = _labels(text)
    if not rest.startswith(" "):
        raise MalformedError("an exemplar needs a value after its labels")
    _value_and_time(rest[1:])
    if sum(len(name) + len(value) for name, value in labels.items()) > EXEMPLAR_LENGTH:
        raise MalformedError(f"the labels of an exemplar are longer than {EXEMPLAR_LENGTH} letters")
