"""Why requests of a load test failed, and when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.load_test.stages import Stage
from perfanalysis.workloads.load_test.tables import FAILED

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "the generator states no reason"
FAILURES = TableSpec(
    "failed_requests",
    "One row per reason of failed requests of a load, the most frequent first",
    (
        Column("load", "text", "the load"),
        Column("error", "text", "reason, as the generator states it", label="reason"),
        Column("requests", "integer", "requests that failed for this reason", "requests"),
        Column("first_s", "number", "when the first of them was sent, since the first request of the load", "s"),
        Column("last_s", "number", "when the last of them was sent, since the first request of the load", "s"),
    ),
)


def failures_table(stages: tuple[Stage, ...]) -> pd.DataFrame:
    """Return the rows of all stages, in order."""
    return FAILURES.of_rows([row for stage in stages for row in _rows(stage)])


def _rows(stage: Stage) -> Iterator[dict[str, object]]:
    failed = stage.requests[stage.requests["outcome"] == FAILED]
    begin = stage.requests["started_s"].min()
    reasons = failed["error"].astype("object").fillna(UNKNOWN)
    for reason, count in reasons.value_counts().items():
        sent = failed.loc[reasons == reason, "started_s"] - begin
        yield {
            "load": stage.load,
            "error": reason,
            "requests": count,
            "first_s": sent.min(),
            "last_s": sent.max(),
        }
