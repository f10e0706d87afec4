"""What a query's name tells of its values: the unit stands at its end, as in the names of Prometheus' own metrics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    """A name for readers, the unit of the values as they are drawn, and the factor that makes them so."""

    title: str
    unit: str
    factor: float
    whole_share: bool = False
    """Of a whole: the axis ends at 100 %."""


GIB, MIB = 2.0**30, 2.0**20
_ENDINGS = (
    ("_bytes_per_second", "MiB/s", 1 / MIB),
    ("_per_second", "1/s", 1.0),
    ("_mebibytes", "GiB", 1 / 1024),
    ("_bytes", "GiB", 1 / GIB),
    ("_percent", "%", 1.0),
    ("_ratio", "%", 100.0),
    ("_seconds", "s", 1.0),
    ("_cores", "cores", 1.0),
    ("_watts", "W", 1.0),
    ("_celsius", "\u00b0C", 1.0),
    ("_joules", "J", 1.0),
    ("_hertz", "Hz", 1.0),
)  # fmt: skip
_DCGM = {
    "DCGM_FI_DEV_GPU_UTIL": Quantity("GPU usage", "%", 1.0, whole_share=True),
    "DCGM_FI_DEV_FB_USED": Quantity("GPU memory used", "GiB", 1 / 1024),
    "DCGM_FI_DEV_FB_FREE": Quantity("GPU memory free", "GiB", 1 / 1024),
    "DCGM_FI_DEV_POWER_USAGE": Quantity("GPU power", "W", 1.0),
    "DCGM_FI_DEV_GPU_TEMP": Quantity("GPU temperature", "\u00b0C", 1.0),
}
"""What NVIDIA's exporter calls its numbers, which tells no units."""
_BASES: dict[str, tuple[str, float]] = {
    "_bytes_per_second": ("bytes/s", 1.0),
    "_per_second": ("count/s", 1.0),
    "_mebibytes": ("bytes", MIB),
    "_bytes": ("bytes", 1.0),
    "_percent": ("ratio", 0.01),
    "_ratio": ("ratio", 1.0),
    "_seconds": ("seconds", 1.0),
    "_cores": ("{core}", 1.0),
    "_watts": ("watts", 1.0),
    "_celsius": ("celsius", 1.0),
    "_joules": ("joules", 1.0),
    "_hertz": ("hertz", 1.0),
}
"""The unit of a KPI for each ending, and the factor."""
_DCGM_BASES = {
    "DCGM_FI_DEV_GPU_UTIL": ("ratio", 0.01),
    "DCGM_FI_DEV_FB_USED": ("bytes", MIB),
    "DCGM_FI_DEV_FB_FREE": ("bytes", MIB),
    "DCGM_FI_DEV_POWER_USAGE": ("watts", 1.0),
    "DCGM_FI_DEV_GPU_TEMP": ("celsius", 1.0),
}
_WORDS = {
    "gpu": "GPU",
    "cpu": "CPU",
    "apiserver": "API server",
    "etcd": "etcd",
    "p50": "P50",
    "p99": "P99",
    "io": "I/O",
}


def base_of(name: str) -> tuple[str, str, float]:
    """The name without its unit, the unit that a KPI of it has, and the factor; no unit where the name tells none."""
    if name in _DCGM_BASES:
        return (name, *_DCGM_BASES[name])
    ending = next((known for known in _BASES if name.endswith(known)), None)
    return (name, "", 1.0) if ending is None else (name.removesuffix(ending) or name, *_BASES[ending])


def quantity_of(name: str) -> Quantity:
    """What a query's name tells; no unit where it tells none."""
    if name in _DCGM:
        return _DCGM[name]
    ending, unit, factor = next((known for known in _ENDINGS if name.endswith(known[0])), ("", "", 1.0))
    words = [_WORDS.get(word, word) for word in name.removesuffix(ending).replace("-", "_").split("_") if word]
    title = " ".join(words) or name
    if title[0].islower() and not title.startswith("etcd"):
        title = title[0].upper() + title[1:]
    return Quantity(title, unit, factor, whole_share=unit == "%")
