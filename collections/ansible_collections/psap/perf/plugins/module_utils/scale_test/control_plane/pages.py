"""Read a page of metrics in Prometheus' text format; only lines of the selected families are parsed.

A general parser creates an object for each of tens of thousands of series; here most lines cost one look-up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.selection import (
    GAUGE,
    HISTOGRAM,
    Metric,
)

_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)",?')
_ESCAPED = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", '"': '"', "\\": "\\"}


class PageError(ValueError):
    """A page is malformed; the message has the line."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One row: the name with its suffix, the kept labels, the value summed over the other labels."""

    metric: str
    labels: Mapping[str, str]
    value: float


class PageReader:
    """Reads the pages of one component."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._metrics = {sample.encode(): (sample, metric) for metric in metrics for sample in metric.samples}

    def read(self, page: bytes) -> list[Sample]:
        """Return the selected samples of a page, without counters and histograms of value 0.

        Raises:
            PageError: If a line of a selected family is malformed.
        """
        sums: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
        gauges: set[str] = set()
        for name, metric, line in self._selected(page):
            text, value = _split(line[len(name) :], line)
            labels = _labels(text, line)
            if not math.isfinite(value) or not _matches(metric, labels):
                continue
            # le is the bucket's label of a histogram
            kept = (*metric.labels, "le") if name.endswith("_bucket") and metric.kind == HISTOGRAM else metric.labels
            key = name, tuple((label, labels.get(label, "")) for label in kept)
            sums[key] = sums.get(key, 0.0) + value
            if metric.kind == GAUGE:
                gauges.add(name)
        return [Sample(name, dict(labels), value) for (name, labels), value in sums.items() if value or name in gauges]

    def _selected(self, page: bytes) -> Iterator[tuple[str, Metric, str]]:
        for line in page.split(b"\n"):
            ends = line.find(b"{")
            found = self._metrics.get(line[: ends if ends >= 0 else line.find(b" ")])
            if found is not None:
                yield *found, line.decode(errors="replace")


def _split(rest: str, line: str) -> tuple[str, float]:
    """Return the text between the braces, and the value, without a time after it."""
    text = ""
    if rest.startswith("{"):
        text, brace, rest = rest[1:].rpartition("}")
        if not brace:
            raise PageError(f"labels do not end in {line[:200]!r}")
    words = rest.split()
    try:
        if not 1 <= len(words) <= 2:
            raise ValueError
        return text, float(words[0])
    except ValueError as error:
        raise PageError(f"no value in {line[:200]!r}") from error


def _labels(text: str, line: str) -> dict[str, str]:
    labels: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _LABEL.match(text, at)
        if match is None:
            raise PageError(f"labels cannot be read in {line[:200]!r}")
        value = match[2]
        labels[match[1]] = _ESCAPED.sub(lambda escaped: _ESCAPES.get(escaped[1], escaped[0]), value)
        at = match.end()
    return labels


def _matches(metric: Metric, labels: Mapping[str, str]) -> bool:
    if any(labels.get(label, "") not in values for label, values in metric.only.items()):
        return False
    return all(labels.get(label, "") not in values for label, values in metric.without.items())
