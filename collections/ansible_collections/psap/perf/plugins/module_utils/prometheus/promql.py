"""The part of PromQL that can be computed without a Prometheus: its expressions, parsed.

These are selectors, ``rate`` and ``increase``, ``histogram_quantile`` of classic histograms, aggregations with ``by``,
arithmetic and ``or``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

AGGREGATIONS = ("sum", "avg", "min", "max", "count")
RATES = ("rate", "increase")
QUANTILE = "histogram_quantile"
NAME = "__name__"
_TOKEN = re.compile(
    r"""\s+|\#[^\n]*|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<range>\[\s*\d+(?:ms|s|m|h)\s*\])"""
    r"""|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>[a-zA-Z_:][\w:]*)|(?P<sign>=~|!~|!=|[-+*/(){},=])"""
)
_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_ESCAPED = re.compile(r"\\(.)")


class UnsupportedError(ValueError):
    """The expression needs a Prometheus; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Matcher:
    """A condition on a label: ``=``, ``!=``, ``=~`` or ``!~``."""

    label: str
    sign: str
    pattern: re.Pattern[str]

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Return whether *labels* meet it; a missing label is empty."""
        found = self.pattern.fullmatch(labels.get(self.label, "")) is not None
        return found is not self.sign.startswith("!")


@dataclass(frozen=True, slots=True)
class Selector:
    """Series by their labels; *range_s* is 0 for the newest sample of each."""

    matchers: tuple[Matcher, ...]
    range_s: float = 0.0

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Return whether a series is selected."""
        return all(matcher.holds(labels) for matcher in self.matchers)


@dataclass(frozen=True, slots=True)
class Rate:
    """The growth of counters in a range, by second unless *total*."""

    of: Selector
    total: bool


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile of classic histograms."""

    share: float
    of: Expression


@dataclass(frozen=True, slots=True)
class Aggregation:
    """One value for each combination of the labels *by*."""

    function: str
    by: tuple[str, ...]
    of: Expression


@dataclass(frozen=True, slots=True)
class Operation:
    """Arithmetic, or ``or``."""

    sign: str
    left: Expression
    right: Expression


Expression: TypeAlias = "Number | Selector | Rate | Quantile | Aggregation | Operation"


def parse(text: str) -> Expression:
    """Return the expression of *text*.

    Raises:
        UnsupportedError: If it is not of the supported part, or not PromQL.
    """
    parser = _Parser(list(_tokens(text)))
    found = parser.either()
    if parser.tokens:
        raise UnsupportedError(f"{parser.tokens[0][1]!r} is not supported without a Prometheus")
    return found


def selectors(expression: Expression) -> Iterator[Selector]:
    """Yield the selectors of *expression*."""
    if isinstance(expression, Selector):
        yield expression
    elif isinstance(expression, Operation):
        yield from selectors(expression.left)
        yield from selectors(expression.right)
    elif not isinstance(expression, Number):
        yield from selectors(expression.of)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise UnsupportedError(f"{text[at : at + 20]!r} is not supported without a Prometheus")
        if found.lastgroup:
            yield found.lastgroup, found[0]
        at = found.end()


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self.tokens = tokens

    def either(self) -> Expression:
        return self._joined(self._sum, ("or",))

    def _sum(self) -> Expression:
        return self._joined(self._product, ("+", "-"))

    def _product(self) -> Expression:
        return self._joined(self._single, ("*", "/"))

    def _joined(self, part: Callable[[], Expression], signs: tuple[str, ...]) -> Expression:
        found = part()
        while self._next in signs:
            found = Operation(self._take(), found, part())
        return found

    @property
    def _next(self) -> str:
        return self.tokens[0][1] if self.tokens else ""

    def _take(self, expected: str = "") -> str:
        if not self.tokens or (expected and self._next != expected):
            raise UnsupportedError(f"{self._next or 'the end'!r} is not supported here without a Prometheus")
        return self.tokens.pop(0)[1]

    def _single(self) -> Expression:
        kind = self.tokens[0][0] if self.tokens else ""
        if kind == "number":
            return Number(float(self._take()))
        if self._next == "(":
            self._take()
            found = self.either()
            self._take(")")
            return found
        if kind == "word" and self._next in AGGREGATIONS:
            return self._aggregation(self._take())
        if kind == "word" and self._next in RATES:
            total = self._take() == "increase"
            return Rate(self._ranged(), total)
        if self._next == QUANTILE:
            self._take()
            self._take("(")
            share = float(self._take())
            self._take(",")
            of = self.either()
            self._take(")")
            return Quantile(share, of)
        return self._selector()

    def _aggregation(self, function: str) -> Aggregation:
        by = self._labels() if self._next == "by" else ()
        self._take("(")
        of = self.either()
        self._take(")")
        return Aggregation(function, self._labels() if self._next == "by" else by, of)

    def _labels(self) -> tuple[str, ...]:
        self._take("by")
        self._take("(")
        found = []
        while self._next != ")":
            found.append(self._take())
            if self._next == ",":
                self._take()
        self._take(")")
        return tuple(found)

    def _ranged(self) -> Selector:
        self._take("(")
        found = self._selector()
        self._take(")")
        if not found.range_s:
            raise UnsupportedError("a rate needs a range, such as [2m]")
        return found

    def _selector(self) -> Selector:
        matchers = []
        if self.tokens and self.tokens[0][0] == "word":
            name = self._take()
            if self._next == "(":
                raise UnsupportedError(f"the function {name} is not supported without a Prometheus")
            matchers.append(Matcher(NAME, "=", re.compile(re.escape(name))))
        if self._next == "{":
            self._take()
            while self._next != "}":
                matchers.append(self._matcher())
                if self._next == ",":
                    self._take()
            self._take("}")
        if not matchers:
            raise UnsupportedError(f"{self._next or 'the end'!r} is not supported here without a Prometheus")
        range_s = 0.0
        if self.tokens and self.tokens[0][0] == "range":
            number, unit = re.findall(r"(\d+)(\w+)", self._take())[0]
            range_s = float(number) * _UNITS_S[unit]
        return Selector(tuple(matchers), range_s)

    def _matcher(self) -> Matcher:
        label, sign = self._take(), self._take()
        value = _ESCAPED.sub(r"\1", self._take()[1:-1])
        try:
            return Matcher(label, sign, re.compile(value if "~" in sign else re.escape(value)))
        except re.error as error:
            raise UnsupportedError(f"{value!r} is no regular expression: {error}") from error
