"""Read any response of a Prometheus as the table of samples.

The name of a query determines the unit of its values: the unit is its suffix, as in Prometheus' own metrics.

Also the windows of a run with queries of Prometheus: their documents, their samples, and their times.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfanalysis.files.bounded import LARGEST_LIST, content
from perfanalysis.files.discovery import MONITORING, Place
from perfanalysis.files.documents import listing, load_json, number_or, text_or_none
from perfanalysis.files.findings import Finding
from perfanalysis.files.recording_files import RecordingFiles, TableSource
from perfanalysis.files.tables import Column, TableSpec

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Quantity:
    """A name for readers, the unit of the drawn values, and the factor to it."""

    title: str
    unit: str
    factor: float
    whole_share: bool = False
    """A share of a whole: the axis ends at 100 %."""


GIB, MIB = 2.0**30, 2.0**20
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
"""The unit of a KPI for each suffix, and the factor."""
_COUNTED = ("requests", "tokens", "pods", "nodes", "workloads")
"""Counts whose name is their unit, and a part of the name of a KPI."""
_DCGM = {
    "DCGM_FI_DEV_GPU_UTIL": ("GPU usage", "ratio", 0.01),
    "DCGM_FI_DEV_FB_USED": ("GPU memory used", "bytes", MIB),
    "DCGM_FI_DEV_FB_FREE": ("GPU memory free", "bytes", MIB),
    "DCGM_FI_DEV_POWER_USAGE": ("GPU power", "watts", 1.0),
    "DCGM_FI_DEV_GPU_TEMP": ("GPU temperature", "celsius", 1.0),
}
"""The names of NVIDIA's exporter, which do not contain units: words, and the same as for a suffix."""
_DRAWN = {
    "bytes/s": ("MiB/s", 1 / MIB),
    "count/s": ("1/s", 1.0),
    "bytes": ("GiB", 1 / GIB),
    "ratio": ("%", 100.0),
    "seconds": ("s", 1.0),
    "{core}": ("cores", 1.0),
    "watts": ("W", 1.0),
    "celsius": ("\u00b0C", 1.0),
    "joules": ("J", 1.0),
    "hertz": ("Hz", 1.0),
    "tokens/s": ("tokens/s", 1.0),
    **{word: (word, 1.0) for word in _COUNTED},
}
"""Return the unit of the drawn values, and the factor to it."""
_WORDS = {
    "gpu": "GPU",
    "cpu": "CPU",
    "apiserver": "API server",
    "etcd": "etcd",
    "p50": "P50",
    "p95": "P95",
    "p99": "P99",
    "io": "I/O",
    "kv": "KV",
    "ttft": "TTFT",
    "itl": "ITL",
    "e2e": "end to end",
    "kserve": "KServe",
    "nvlink": "NVLink",
    "pcie": "PCIe",
    "sm": "SM",
}


def base_of(name: str) -> tuple[str, str, float]:
    """Return the name without its unit, the unit of a KPI of it, and the factor; no unit if the name contains none."""
    if name in _DCGM:
        return (name, *_DCGM[name][1:])
    counted = next((word for word in _COUNTED if name.endswith(f"_{word}")), None)
    if counted is not None:
        return name, counted, 1.0
    if name.endswith("_tokens_per_second"):
        return name.removesuffix("_per_second"), "tokens/s", 1.0
    ending = next((known for known in _BASES if name.endswith(known)), None)
    return (name, "", 1.0) if ending is None else (name.removesuffix(ending) or name, *_BASES[ending])


def quantity_of(name: str) -> Quantity:
    """Return what a query's name states; no unit if it contains none."""
    stem, base, factor = base_of(name)
    unit, drawn = _DRAWN.get(base, ("", 1.0))
    words = [_WORDS.get(word, word) for word in stem.replace("-", "_").split("_") if word]
    title = _DCGM[name][0] if name in _DCGM else " ".join(words) or name
    if title[0].islower() and not title.startswith("etcd"):
        title = title[0].upper() + title[1:]
    return Quantity(title, unit, factor * drawn, whole_share=unit == "%")


SAMPLES = TableSpec(
    "prometheus_samples",
    "One row per sample of a Prometheus' answers to the queries of a window",
    (
        Column("query", "text", "name of the query in its file, or of the file if the query is not listed"),
        Column("metric", "text", "name of the metric; null for computed values"),
        Column("labels", "text", "all other labels of the series, as JSON with sorted keys"),
        Column("at_s", "time", "time of the sample, or of the step it is computed for", "s since the epoch, UTC"),
        Column("value", "number", "value, in the unit of the name; null if it is not finite"),
    ),
)


@dataclass(frozen=True)
class RangeTables:
    """The contents of the responses."""

    prometheus_samples: pd.DataFrame = field(metadata={"table": SAMPLES})


NAME = "__name__"


def read_answer(path: Path, query: str | None = None) -> pd.DataFrame:
    """Return the samples of one file as the table `prometheus_samples`; `query` is the file's name if not given.

    Values of a series may be pairs of time and value, or a mapping from one to the other. Raises ValueError with the
    reason if the file is invalid, OSError if it cannot be read.
    """
    loaded = load_json(content(path, LARGEST_LIST))
    return samples_of(loaded, query or path.stem)


def samples_of(loaded: object, query: str) -> pd.DataFrame:
    """Return the samples of a response that was read from JSON, in the order of time for each series. Raises
    ValueError.
    """
    import pandas as pd

    columns: dict[str, list[Any]] = {name: [] for name in ("query", "metric", "labels", "at_s", "value")}
    for series in _series(loaded):
        labels = series["metric"]
        others = json.dumps({name: labels[name] for name in sorted(labels) if name != NAME}, ensure_ascii=False)
        samples = sorted(_samples(series))
        count = len(samples)
        columns["query"] += [query] * count
        columns["metric"] += [labels.get(NAME)] * count
        columns["labels"] += [others] * count
        columns["at_s"] += [at for at, _ in samples]
        columns["value"] += [value for _, value in samples]
    return SAMPLES.conform(pd.DataFrame(columns))


def _series(loaded: object) -> list[dict[str, Any]]:
    if isinstance(loaded, dict) and loaded.get("status") == "error":
        raise ValueError(f"not a response with data, but an error: {loaded.get('error')}")
    data = loaded.get("data", loaded) if isinstance(loaded, dict) else loaded
    found = data.get("result") if isinstance(data, dict) else data
    if not isinstance(found, list):
        raise ValueError("not a response of Prometheus: no list of series")
    if not all(isinstance(one, dict) and isinstance(one.get("metric"), dict) for one in found):
        raise ValueError("not a response of Prometheus: a series has no labels under metric")
    return found


def _samples(series: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """Return times and values; values that are not finite are NaN, which a table has as null."""
    values = series.get("values", [series["value"]] if "value" in series else [])
    pairs = values.items() if isinstance(values, dict) else values
    try:
        for at, value in pairs:
            number = float(value)
            yield float(at), number if math.isfinite(number) else math.nan
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"a sample is not a pair of time and value: {error}") from error


(MARKER,) = MONITORING
KIND = "prometheus-queries"


@dataclass(frozen=True)
class Ranges:
    """One window: the queries from `start_s` to `end_s`, in steps of `step_s` if it was computed."""

    place: Place
    start_s: float
    end_s: float
    step_s: float
    samples: pd.DataFrame

    def overlaps(self, start_s: float, end_s: float) -> bool:
        """Return whether they have a time in common."""
        return self.start_s <= end_s and start_s <= self.end_s


def parse(source: RecordingFiles) -> RangeTables:
    """Return the samples of all responses that the document lists; unreadable or refused ones become findings."""
    import pandas as pd

    frames = [SAMPLES.empty()]
    for entry in listing(source.document(MARKER, KIND).get("queries")):
        query = entry if isinstance(entry, dict) else {}
        name, file = text_or_none(query.get("name")) or "", text_or_none(query.get("file"))
        where = f"{source.place.relative}/{file or MARKER}"
        if file is None:
            source.findings += (Finding("warning", where, f"the query {name} failed: {query.get('error')}"),)
            continue
        if not source.declares(file):
            source.find("error", file, "the response was not read: the file is not in the folder of the queries")
            continue
        try:
            frames.append(read_answer(source.path(file), name))
        except (OSError, ValueError) as error:
            source.findings += (Finding("error", where, f"cannot read the response: {error}"),)
    joined = pd.concat([frame.astype("object") for frame in frames], ignore_index=True)
    return RangeTables(SAMPLES.conform(joined))


RANGES = TableSource(
    name="prometheus",
    version=1,
    files=(MARKER, "*.json"),
    tables=RangeTables,
    parse=parse,
)


def ranges_of(place: Place, tables: RangeTables) -> Ranges:
    """Return the window with its samples; if the document does not state it, from the first sample to the last."""
    document = RecordingFiles(place).document(MARKER, KIND)
    times = tables.prometheus_samples["at_s"]
    first, last = (float(times.min()), float(times.max())) if len(times) else (0.0, 0.0)
    return Ranges(
        place=place,
        start_s=number_or(document.get("start_s"), first),
        end_s=number_or(document.get("end_s"), last),
        step_s=number_or(document.get("step_s"), 0.0),
        samples=tables.prometheus_samples,
    )


def labels_of(text: str) -> dict[str, str]:
    """Return the labels of a series in the form of the table."""
    loaded: dict[str, str] = json.loads(text)
    return loaded
