"""A stage of the load with the data of its requests: the input of KPIs, tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.load_test.tables import CANCELLED, COMPLETED, FAILED, LoadTables, finite_values
from perfanalysis.workloads.percentiles import Method, Value, estimates, percentile, smallest_sample
from perfanalysis.workloads.trend import slope_value

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from perfanalysis.workloads.load_test.document import LoadTest

LATENCIES: Mapping[str, tuple[str, str]] = {
    "ttft": ("ttft_s", "time to first token"),
    "itl": ("itl_s", "mean inter-token latency of a request"),
    "tpot": ("tpot_s", "time per output token of a request"),
    "request_latency": ("latency_s", "time of a whole request"),
}
"""A measure: its column, and its name for readers."""
P80 = 0.80
SIMPLE = ("min", "mean", "p80")
"""Statistics of a latency without an interval."""
SHARES_OF_SPREAD = {"p10": 0.10, "p50": 0.50, "p90": 0.90}
SPREAD_COLUMNS = tuple(
    f"{measure}_{share}{unit}"
    for measure, unit in (("ttft", "_s"), ("itl", "_s"), ("output_rate", ""))
    for share in SHARES_OF_SPREAD
    if (measure, share) not in (("ttft", "p50"), ("itl", "p50"))
)


@dataclass(frozen=True)
class Stage:
    """One stage. `concurrency` is the setting; None if a rate was set."""

    load: str
    concurrency: float | None
    model: str | None
    requests: pd.DataFrame
    test: LoadTest
    method: Method

    def count(self, outcome: str) -> int:
        """Return how many requests have that outcome."""
        return int((self.requests["outcome"] == outcome).sum())

    @cached_property
    def completed(self) -> pd.DataFrame:
        """Return the requests that were answered."""
        return self.requests[self.requests["outcome"] == COMPLETED]

    def values(self, column: str) -> NDArray[np.float64]:
        """Return the finite values of a column of completed requests."""
        return finite_values(self.completed, column)

    @cached_property
    def _estimates(self) -> Mapping[str, Mapping[str, Value]]:
        return {name: estimates(self.values(column), self.method) for name, (column, _) in LATENCIES.items()}

    def statistic(self, measure: str, statistic: str) -> Value:
        """Return a statistic of a latency: a percentile, or one of SIMPLE."""
        found = self._estimates[measure].get(statistic) or self._simple(measure, statistic)
        if found.number is None and not found.count:
            return Value(None, "no completed request states it" if len(self.completed) else "no request completed")
        return found

    def _simple(self, measure: str, statistic: str) -> Value:
        values = np.sort(self.values(LATENCIES[measure][0]))
        needed = smallest_sample(P80) if statistic == "p80" else 1
        if len(values) < needed:
            return Value(None, f"needs {needed} values, found {len(values)}", count=len(values))
        numbers = {"min": values[0], "mean": values.mean(), "p80": percentile(values, P80, self.method)}
        return Value(float(numbers[statistic]), f"no interval for the {statistic}", count=len(values))

    def slope(self, measure: str) -> Value:
        """Return the growth of a latency in a second of the load, by the start of requests."""
        starts, values = (self.completed[name].to_numpy(dtype=float) for name in ("started_s", LATENCIES[measure][0]))
        return slope_value(starts, values)

    @cached_property
    def length_s(self) -> float | None:
        """Return the time from the first request's start to the end of the last one that completed or failed."""
        ended = self.requests[self.requests["outcome"] != CANCELLED]
        begin, end = ended["started_s"].min(), ended["ended_s"].max()
        return float(end - begin) if np.isfinite(begin) and np.isfinite(end) and end > begin else None

    def per_second(self, amount: float) -> Value:
        """Return an amount of the whole stage, divided by its length."""
        return Value(amount / self.length_s) if self.length_s else Value(None, "the times of its requests are missing")

    @cached_property
    def mean_concurrency(self) -> float | None:
        """Return the average number of concurrent requests, by Little's law."""
        ended = self.requests[self.requests["outcome"] != CANCELLED]
        return float(ended["latency_s"].sum() / self.length_s) if self.length_s else None

    @cached_property
    def good(self) -> int:
        """Return completed requests within every limit; requests without a limited value are not."""
        kept = np.ones(len(self.completed), dtype=bool)
        for column, limit in self.test.limits.items():
            kept &= self.completed[column].to_numpy(dtype=float) <= limit
        return int(kept.sum())


def stages_of(tables: LoadTables, test: LoadTest, method: Method) -> tuple[Stage, ...]:
    """Return the stages in order; stages with the same load are numbered."""
    return tuple(_stages(tables, test, method))


def _stages(tables: LoadTables, test: LoadTest, method: Method) -> Iterator[Stage]:
    seen: dict[str, int] = {}
    groups = dict(tuple(tables.requests.groupby("stage")))
    none = tables.requests.iloc[:0]
    for row in tables.stages.astype("object").to_dict("records"):
        load = row["load"] if isinstance(row["load"], str) else "unknown load"
        seen[load] = seen.get(load, 0) + 1
        name = load if seen[load] == 1 else f"{load} ({seen[load]})"
        concurrency = row["concurrency"] if isinstance(row["concurrency"], float) else np.nan
        model = row["model"] if isinstance(row["model"], str) else None
        yield Stage(
            name,
            float(concurrency) if np.isfinite(concurrency) else None,
            test.facts.get("model", model),
            groups.get(row["stage"], none),
            test,
            method,
        )


SUMMARY = TableSpec(
    "load_test",
    "One row per stage of the load, computed from the records of its requests",
    (
        Column("load", "text", "the load"),
        Column("concurrency", "number", "concurrent requests, as set; else as measured", "requests"),
        Column("model", "text", "model"),
        Column("flavor", "text", "how the model is served, as the document states it"),
        Column("phase", "text", "part of a longer test, as the document states it"),
        Column("generator", "text", "load generator, as the document states it"),
        Column("began_s", "time", "when its first request was sent"),
        Column("version", "text", "version of what serves it, as the document states it"),
        Column("runtime_image", "text", "image of what serves it, as the document states it"),
        Column("completed", "integer", "requests that were answered", "requests"),
        Column("failed", "integer", "requests that failed", "requests"),
        Column("cancelled", "integer", "requests not ended at the end of the load", "requests"),
        Column("length_s", "number", "from the first request to the end of the last one", "s"),
        Column("requests_per_second", "number", "completed requests", "requests/s", label="requests"),
        Column("output_tokens_per_second", "number", "tokens of answers", "tokens/s", label="tokens out"),
        *(
            Column(f"{measure}_{statistic}_s", "number", f"{statistic.upper()} of the {words}", "s")
            for measure, (_, words) in LATENCIES.items()
            for statistic in ("p50", "p95")
        ),
        *(
            Column(f"{measure}_{share}_s", "number", f"{share.upper()} of the {LATENCIES[measure][1]}", "s")
            for measure in ("ttft", "itl")
            for share in ("p10", "p90")
        ),
        *(
            Column(f"output_rate_{share}", "number", f"{share.upper()} of a request's tokens by its time", "tokens/s")
            for share in SHARES_OF_SPREAD
        ),
    ),
)


def summary_table(stages: tuple[Stage, ...]) -> pd.DataFrame:
    """Return the row of each stage."""
    return SUMMARY.of_rows([_row(stage) for stage in stages])


def _row(stage: Stage) -> dict[str, object]:
    tokens = float(stage.values("output_tokens").sum())
    return {
        **dict.fromkeys(("flavor", "phase", "generator", "version", "runtime_image")),
        **{name: text for name, text in stage.test.facts.items() if name != "round"},
        "began_s": float(stage.requests["started_s"].min()),
        "load": stage.load,
        "concurrency": stage.mean_concurrency if stage.concurrency is None else stage.concurrency,
        "model": stage.model,
        "completed": stage.count(COMPLETED),
        "failed": stage.count(FAILED),
        "cancelled": stage.count(CANCELLED),
        "length_s": stage.length_s,
        "requests_per_second": stage.per_second(len(stage.completed)).number,
        "output_tokens_per_second": stage.per_second(tokens).number,
        **{
            f"{measure}_{statistic}_s": stage.statistic(measure, statistic).number
            for measure in LATENCIES
            for statistic in ("p50", "p95")
        },
        **{name: value for name, value in _spread(stage).items() if name in SPREAD_COLUMNS},
    }


def _spread(stage: Stage) -> dict[str, float | None]:
    times, tokens = (stage.completed[name].to_numpy(dtype=float) for name in ("latency_s", "output_tokens"))
    known = np.isfinite(times) & np.isfinite(tokens) & (times > 0)
    of = {"ttft": stage.values("ttft_s"), "itl": stage.values("itl_s"), "output_rate": tokens[known] / times[known]}
    return {
        f"{measure}_{share}{'' if measure == 'output_rate' else '_s'}": _quantile(values, part)
        for measure, values in of.items()
        for share, part in SHARES_OF_SPREAD.items()
    }


def _quantile(values: NDArray[np.float64], share: float) -> float | None:
    return float(np.quantile(values, share)) if len(values) else None
