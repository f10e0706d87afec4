"""The lines of a page of metrics in the text format of Prometheus."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SAMPLE = re.compile(r"([A-Za-z_:][\w:]*)(\{.*\})?\s+(\S+)(?:\s+-?\d+)?")


@dataclass(frozen=True, slots=True)
class Sample:
    """A line with a value; *labels* is their text with braces, or empty."""

    metric: str
    labels: str
    value: float


def read_sample(line: str) -> Sample | None:
    """Return the sample of a line; None for any other line."""
    found = _SAMPLE.fullmatch(line.strip())
    if found is None:
        return None
    try:
        return Sample(found[1], found[2] or "", float(found[3]))
    except ValueError:
        return None
