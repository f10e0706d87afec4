"""Compute queries from scraped pages, as Prometheus does; rates are not extrapolated beyond the scrapes of a range."""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.prometheus.answers import Answer, Series
from ansible_collections.psap.perf.plugins.module_utils.prometheus.exposition import read_sample
from ansible_collections.psap.perf.plugins.module_utils.prometheus.promql import (
    NAME,
    Aggregation,
    Expression,
    Number,
    Operation,
    Quantile,
    Rate,
    Selector,
    UnsupportedError,
)

_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_BOUND = "le"
Labels = tuple[tuple[str, str], ...]
Vector = Mapping[Labels, float]
_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right if right else math.nan,
}
_AGGREGATED: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "avg": lambda values: sum(values) / len(values),
    "min": min,
    "max": max,
    "count": len,
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page of metrics of a target, and when it was read, in seconds since the epoch."""

    at_s: float
    labels: Mapping[str, str]
    text: str


class Scrapes:
    """The samples of pages that some selectors select."""

    def __init__(self, wanted: Iterable[Selector]) -> None:
        """Samples that none of *wanted* selects are not stored."""
        self._wanted = tuple(wanted)
        self._series: dict[Labels, tuple[list[float], list[float]]] = {}
        self._selected: dict[Selector, tuple[int, list[Labels]]] = {}
        self.times: list[float] = []

    def add(self, pages: Iterable[Page]) -> None:
        """Add the pages of one scrape, which is later than all before."""
        pages = tuple(pages)
        at_s = max(page.at_s for page in pages)
        for page in pages:
            for labels, value in _samples(page):
                if any(selector.holds(labels) for selector in self._wanted):
                    times, values = self._series.setdefault(_key(labels), ([], []))
                    times.append(at_s)
                    values.append(value)
        self.times.append(at_s)

    def answer(self, expression: Expression, at_s: Sequence[float]) -> Answer:
        """Return *expression* at these times.

        Raises:
            UnsupportedError: If two series have the same labels.
        """
        found: dict[Labels, list[tuple[float, str]]] = {}
        for moment in at_s:
            for labels, number in self._vector(expression, moment).items():
                if not math.isnan(number):
                    found.setdefault(labels, []).append((moment, repr(float(number))))
        return Answer(tuple(Series(dict(labels), tuple(samples)) for labels, samples in found.items()))

    def _value(self, expression: Expression, at_s: float) -> Vector | float:
        match expression:
            case Number(value):
                return value
            case Selector():
                return {labels: values[-1] for labels, times, values in self._within(expression, at_s) if times}
            case Rate(of, total):
                return _rates(self._within(of, at_s), total=total)
            case Quantile(share, of):
                return _quantiles(share, self._vector(of, at_s))
            case Aggregation(function, by, of):
                return _aggregated(function, by, self._vector(of, at_s))
            case Operation(sign, left, right):
                return _combined(sign, self._value(left, at_s), self._value(right, at_s))

    def _vector(self, expression: Expression, at_s: float) -> Vector:
        return _vector(self._value(expression, at_s))

    def _within(self, selector: Selector, at_s: float) -> Iterator[tuple[Labels, list[float], list[float]]]:
        """Yield the samples in the range; without a range, of the scrape at this time."""
        for labels in self._labels(selector):
            times, values = self._series[labels]
            last = bisect.bisect_right(times, at_s)
            begin = at_s - selector.range_s
            first = bisect.bisect_right(times, begin) if selector.range_s else bisect.bisect_left(times, at_s)
            yield labels, times[first:last], values[first:last]

    def _labels(self, selector: Selector) -> list[Labels]:
        known = self._selected.get(selector)
        if known is None or known[0] != len(self._series):
            found = [labels for labels in self._series if selector.holds(dict(labels))]
            known = self._selected[selector] = len(self._series), found
        return known[1]


def _samples(page: Page) -> Iterator[tuple[dict[str, str], float]]:
    for line in page.text.splitlines():
        found = read_sample(line)
        if found is not None:
            own = {name: _ESCAPED.sub(r"\1", text) for name, text in _LABEL.findall(found.labels)}
            yield {**own, **page.labels, NAME: found.metric}, found.value


def _key(labels: Mapping[str, str], without: Sequence[str] = ()) -> Labels:
    return tuple(sorted((name, text) for name, text in labels.items() if name not in without))


def _nameless(labels: Labels) -> Labels:
    return tuple(pair for pair in labels if pair[0] != NAME)


def _rates(series: Iterable[tuple[Labels, list[float], list[float]]], *, total: bool) -> Vector:
    found: dict[Labels, float] = {}
    for labels, times, values in series:
        if len(times) < 2:
            continue
        # a counter that restarted has grown by its value
        grown = sum(after - before if after >= before else after for before, after in itertools.pairwise(values))
        own = _nameless(labels)
        if own in found:
            raise UnsupportedError(f"two series have the labels {dict(own)}; select one metric")
        found[own] = grown if total else grown / (times[-1] - times[0])
    return found


def _aggregated(function: str, by: Sequence[str], vector: Vector) -> Vector:
    groups: dict[Labels, list[float]] = {}
    for labels, value in vector.items():
        groups.setdefault(tuple(pair for pair in labels if pair[0] in by), []).append(value)
    return {labels: float(_AGGREGATED[function](values)) for labels, values in groups.items()}


def _quantiles(share: float, vector: Vector) -> Vector:
    groups: dict[Labels, list[tuple[float, float]]] = {}
    for labels, value in vector.items():
        bound = dict(labels).get(_BOUND)
        if bound is not None:
            groups.setdefault(_key(dict(labels), (_BOUND, NAME)), []).append((float(bound), value))
    return {labels: _quantile(share, sorted(buckets)) for labels, buckets in groups.items()}


def _quantile(share: float, buckets: list[tuple[float, float]]) -> float:
    """Return the quantile by linear interpolation in its bucket; NaN without observations, as Prometheus."""
    bounds, counts = [bound for bound, _count in buckets], [count for _bound, count in buckets]
    if len(buckets) < 2 or not math.isinf(bounds[-1]) or counts[-1] <= 0:
        return math.nan
    rank = share * counts[-1]
    place = next(place for place, count in enumerate(counts) if count >= rank)
    if place == len(buckets) - 1:
        return bounds[-2]
    if place == 0 and bounds[0] <= 0:
        return bounds[0]
    below, before = (bounds[place - 1], counts[place - 1]) if place else (0.0, 0.0)
    return below + (bounds[place] - below) * (rank - before) / (counts[place] - before)


def _combined(sign: str, left: Vector | float, right: Vector | float) -> Vector | float:
    if sign == "or":
        first, second = _vector(left), _vector(right)
        known = {_nameless(labels) for labels in first}
        return {**first, **{labels: value for labels, value in second.items() if _nameless(labels) not in known}}
    compute = _ARITHMETIC[sign]
    if isinstance(left, float) and isinstance(right, float):
        return compute(left, right)
    if isinstance(left, float):
        return {_nameless(labels): compute(left, value) for labels, value in _items(right)}
    if isinstance(right, float):
        return {_nameless(labels): compute(value, right) for labels, value in left.items()}
    others = {_nameless(labels): value for labels, value in right.items()}
    return {own: compute(value, others[own]) for labels, value in left.items() if (own := _nameless(labels)) in others}


def _vector(value: Vector | float) -> Vector:
    return {(): value} if isinstance(value, float) else value


def _items(vector: Vector | float) -> Iterable[tuple[Labels, float]]:
    return () if isinstance(vector, float) else vector.items()
