"""The table of what was asked of a Prometheus, one for each window."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
