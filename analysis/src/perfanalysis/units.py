"""The units that a KPI may have: base units of Prometheus, else a unit of UCUM with the reason.

Prometheus: https://prometheus.io/docs/practices/naming/#base-units. UCUM, the Unified Code for Units of Measure:
https://ucum.org/ucum; counts are annotations there, `{pod}`, of the unit 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from perfanalysis.errors import did_you_mean

BASE = "base unit of Prometheus"
COUNTED = "a count, named after the counted things"


@dataclass(frozen=True)
class Unit:
    """An accepted unit: its name in declarations and documents, its code in UCUM, and why it is accepted."""

    name: str
    ucum: str
    reason: str

    @property
    def metric(self) -> str:
        """Return the end of the name of an OpenMetrics family: `workloads/s` gives `workloads_per_second`."""
        spelled = re.sub(r"/s$", " per second", self.name).replace("/", " per ")
        return re.sub(r"[^a-z0-9]+", "_", spelled.lower()).strip("_")


TABLE: tuple[Unit, ...] = (
    Unit("seconds", "s", BASE),
    Unit("bytes", "By", BASE),
    Unit("ratio", "1", f"{BASE}: shares are 0 to 1, not percent"),
    Unit("joules", "J", BASE),
    Unit("celsius", "Cel", BASE),
    Unit("volts", "V", BASE),
    Unit("amperes", "A", BASE),
    Unit("meters", "m", BASE),
    Unit("grams", "g", BASE),
    Unit("watts", "W", "joules a second: power"),
    Unit("hertz", "Hz", "of a clock; events a second are written {event}/s"),
    Unit("GiB", "GiBy", "memory of a GPU, in the unit of vendors and requests"),
    Unit("Gbit/s", "Gbit/s", "rate of a link, in the unit of vendors and iperf"),
    Unit("GPU-seconds", "{GPU}.s", "a resource over time, as seconds of CPU are counted"),
    Unit("GPU-hours", "{GPU}.h", "the unit in which GPUs are billed"),
    Unit("CPU-seconds", "{CPU}.s", "a resource over time"),
    Unit("Wh", "W.h", "energy, in the unit in which it is billed"),
    Unit("seconds/run", "s/{run}", "a slope over the runs of a user"),
    Unit("nats", "{nat}", "a cross entropy by the natural logarithm, as trainers report a loss"),
    Unit("times", "{times}", "a multiple of another value; it may be above 1"),
    *(
        Unit(name, f"{{{one}}}", COUNTED)
        for name, one in (
            ("count", "count"),
            ("workloads", "workload"),
            ("jobs", "job"),
            ("users", "user"),
            ("runs", "run"),
            ("pods", "pod"),
            ("nodes", "node"),
            ("GPUs", "GPU"),
            ("requests", "request"),
            ("attempts", "attempt"),
            ("evictions", "eviction"),
            ("devices", "device"),
            ("claims", "claim"),
            ("pairs", "pair"),
            ("domains", "domain"),
            ("samples", "sample"),
            ("tokens", "token"),
            ("steps", "step"),
            ("events", "event"),
            ("errors", "error"),
        )
    ),
)
_KNOWN: Mapping[str, Unit] = {unit.name: unit for unit in TABLE} | {unit.ucum: unit for unit in TABLE}
_SCALED: Mapping[str, str] = {
    **dict.fromkeys(("ms", "us", "µs", "ns", "min", "h", "sec", "milliseconds", "minutes", "hours"), "seconds"),
    **dict.fromkeys(("%", "percent", "share"), "ratio"),
    **dict.fromkeys(("kB", "KB", "MB", "GB", "KiB", "MiB", "TiB", "B"), "bytes"),
}
"""Units that are not base units, and the base unit for their values."""
_ANNOTATION = re.compile(r"\{[A-Za-z][A-Za-z0-9 _-]*\}")


SECONDS: Mapping[str, float] = {
    **{"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0},
    **{"m": 60.0, "min": 60.0, "h": 3600.0, "hr": 3600.0, "d": 86400.0, "w": 604800.0},
}
_PART = rf"\d+(?:\.\d+)?\s?(?:{'|'.join(sorted(SECONDS, key=len, reverse=True))})"
DURATION = rf"{_PART}(?:\s?{_PART})*"
"""A pattern of durations as people, systemd and Ray write them: `500ms`, `1m30s`, `1hr 2min 3.5s`."""


def read_duration(text: str) -> float:
    """Return the seconds of a duration.

    Raises:
        ValueError: *text* does not match `DURATION`.
    """
    if not re.fullmatch(DURATION, text):
        raise ValueError(f"{text!r} is not a duration")
    return sum(float(number) * SECONDS[unit] for number, unit in re.findall(r"([\d.]+)\s?([a-zµ]+)", text))


def unit_of(text: str) -> Unit:
    """Return the unit by its name or its UCUM code; a rate is `<unit>/s`, a custom count is `{widget}`.

    Raises ValueError with the expected unit.
    """
    if text in _KNOWN:
        return _KNOWN[text]
    if _ANNOTATION.fullmatch(text):
        return Unit(text, text, COUNTED)
    whole, _, per = text.rpartition("/")
    if per == "s" and whole and "/" not in whole:
        each = unit_of(whole)
        return Unit(f"{each.name}/s", f"{each.ucum}/s", f"rate: {each.reason}")
    raise ValueError(f"unknown unit {text!r}: use a base unit of Prometheus or an accepted UCUM unit{_instead(text)}")


def _instead(text: str) -> str:
    if text in _SCALED:
        return f"; convert the values to {_SCALED[text]}"
    meant = did_you_mean(text, [unit.name for unit in TABLE])
    return f"; {f'{meant} ' if meant else ''}name what you count in braces, such as {{widget}}"
