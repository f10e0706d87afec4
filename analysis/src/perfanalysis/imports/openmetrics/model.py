"""What an OpenMetrics text says: families of metrics with their samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

MetricType = Literal["unknown", "gauge", "counter", "stateset", "info", "histogram", "gaugehistogram", "summary"]
ENDINGS: Mapping[MetricType, tuple[str, ...]] = {
    "unknown": ("",),
    "gauge": ("",),
    "counter": ("_total", "_created"),
    "stateset": ("",),
    "info": ("_info",),
    "histogram": ("_bucket", "_count", "_sum", "_created"),
    "gaugehistogram": ("_bucket", "_gcount", "_gsum"),
    "summary": ("", "_count", "_sum", "_created"),
}
"""What the names of a family's samples end with."""
RESERVED: Mapping[tuple[MetricType, str], str] = {
    ("histogram", "_bucket"): "le",
    ("gaugehistogram", "_bucket"): "le",
    ("summary", ""): "quantile",
}
"""The label that a sample with that ending must have."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One line: `ending` is what its name has after the family's; `at_s` is its timestamp, None without one."""

    ending: str
    labels: Mapping[str, str]
    value: float
    at_s: float | None
    line: int


@dataclass(frozen=True)
class Family:
    """A metric family. `unit` is empty where the text tells none."""

    name: str
    type: MetricType
    unit: str
    help: str
    samples: tuple[Sample, ...]
