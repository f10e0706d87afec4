"""How complete the data of a recording is: where every workload went, and what is missing or impossible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from perfanalysis.files.tables import Column, TableSpec

if TYPE_CHECKING:
    from perfanalysis.workloads.scale_test.outcomes import Accounting

DATA_QUALITY = TableSpec(
    "data_quality",
    "Where every workload went, as recounted and as the recorder stated; latencies that are missing or impossible",
    (
        Column("what", "text", "submitted, one of the places whose sum it is, or a problem of latencies"),
        Column("count", "integer", "as recounted from the recording; null where only the recorder knows"),
        Column("stated", "integer", "by the recorder; null where it does not state it"),
        Column("ratio", "number", "count, else stated, of the workloads submitted; of latencies, of none"),
    ),
)
PLACES = (
    ("submitted", "submitted"),
    ("completed", "completed"),
    ("failed", "failed"),
    ("churned", "churned"),
    ("deleted", None),
    ("unseen", None),
    ("unfinished", "running"),
    ("lost", "lost"),
)
"""What the analysis counts, and what the recorder calls the same."""


def data_quality_table(accounting: Accounting, anomalies: pd.DataFrame) -> pd.DataFrame:
    """The table DATA_QUALITY."""
    rows: list[tuple[str, int | None, int | None, float | None]] = []
    for what, key in PLACES:
        count = None if what == "lost" else int(getattr(accounting, what))
        stated = _whole(accounting.stated.get(key)) if key else None
        rows.append((what, count, stated, _ratio(stated if count is None else count, accounting.submitted)))
    for problem in ("missing", "negative"):
        counts = anomalies["count"][(anomalies["problem"] == problem) & (anomalies["clock"] == "seen")]
        rows.append((f"{problem} latencies", int(counts.sum()), None, None))
    return DATA_QUALITY.conform(pd.DataFrame(rows, columns=[column.name for column in DATA_QUALITY.columns]))


def _ratio(count: int | None, submitted: int) -> float | None:
    return count / submitted if count is not None and submitted else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
