"""Read any answer of a Prometheus as the table of samples."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfanalysis.files.documents import load_json
from perfanalysis.files.tables import Column, TableSpec

if TYPE_CHECKING:
    import pandas as pd

SAMPLES = TableSpec(
    "prometheus_samples",
    "One row per sample of a Prometheus' answers to the queries of a window",
    (
        Column("query", "text", "name of the query in its file, the file's name for answers that nobody listed"),
        Column("metric", "text", "name of the metric; null for what was computed"),
        Column("labels", "text", "all other labels of the series, as JSON with sorted keys"),
        Column("at_s", "time", "moment of the sample, or of the step it is computed for", "s since the epoch, UTC"),
        Column("value", "number", "value, in the unit that the names tell; null where it is not finite"),
    ),
)


@dataclass(frozen=True)
class RangeTables:
    """What the answers hold."""

    prometheus_samples: pd.DataFrame = field(metadata={"table": SAMPLES})


NAME = "__name__"


def read_answer(path: Path, query: str | None = None) -> pd.DataFrame:
    """The samples of one file as the table `prometheus_samples`; `query` is the file's name if not given.

    Values of a series may be pairs of time and value, or a mapping from one to the other. Raises ValueError saying what
    is wrong with the file, OSError when it cannot be read.
    """
    loaded = load_json(path.read_bytes())
    return samples_of(loaded, query or path.stem)


def samples_of(loaded: object, query: str) -> pd.DataFrame:
    """The samples of an answer that was read from JSON, in the order of time for each series. Raises ValueError."""
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
        raise ValueError(f"it is no answer, but an error: {loaded.get('error')}")
    data = loaded.get("data", loaded) if isinstance(loaded, dict) else loaded
    found = data.get("result") if isinstance(data, dict) else data
    if not isinstance(found, list):
        raise ValueError("it is no answer of a Prometheus: it has no list of series")
    if not all(isinstance(one, dict) and isinstance(one.get("metric"), dict) for one in found):
        raise ValueError("it is no answer of a Prometheus: a series has no labels under metric")
    return found


def _samples(series: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """Moments and values; what is not finite is NaN, which a table has as null."""
    values = series.get("values", [series["value"]] if "value" in series else [])
    pairs = values.items() if isinstance(values, dict) else values
    try:
        for at, value in pairs:
            number = float(value)
            yield float(at), number if math.isfinite(number) else math.nan
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"a sample is no pair of time and value: {error}") from error
