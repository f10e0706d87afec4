"""Requests by their turn in a conversation: how later turns with longer prompts benefit from the prefix cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.load_test.stages import Stage
from perfanalysis.workloads.load_test.tables import finite_values
from perfanalysis.workloads.percentiles import percentile

if TYPE_CHECKING:
    import pandas as pd

TURNS = TableSpec(
    "turns",
    "One row per load and turn, over completed requests",
    (
        Column("load", "text", "the load"),
        Column("turn", "integer", "number of the turn in its conversation, from 1; missing if it was not recorded"),
        Column("requests", "integer", "completed requests", "requests"),
        Column("ttft_p50_s", "number", "P50 of the time to first token", "s"),
        Column("ttft_p95_s", "number", "P95 of the time to first token", "s"),
        Column("input_tokens", "number", "mean tokens of a prompt", "tokens"),
        Column("cached_ratio", "number", "share of the tokens of prompts that the server read from its cache", "ratio"),
        Column("reasoning_tokens", "number", "mean reasoning tokens of an answer", "tokens"),
    ),
)


def turns_table(stages: tuple[Stage, ...]) -> pd.DataFrame:
    """Return the rows; none if no request has a second turn, cached tokens or reasoning tokens."""
    recorded = any(
        (stage.values("turn") > 1).any() or len(stage.values("cached_tokens")) or len(stage.values("reasoning_tokens"))
        for stage in stages
    )
    return TURNS.of_rows([row for stage in stages for row in _rows(stage)] if recorded else [])


def cached_ratio(requests: pd.DataFrame) -> float | None:
    """Return the share of the tokens of prompts that came from the server's cache, over requests that state both."""
    prompts, cached = (requests[name].to_numpy(dtype=float) for name in ("input_tokens", "cached_tokens"))
    known = np.isfinite(prompts) & np.isfinite(cached)
    total = float(prompts[known].sum())
    return float(cached[known].sum()) / total if total else None


def _rows(stage: Stage) -> Iterator[dict[str, Any]]:
    turns = stage.completed["turn"].to_numpy(dtype=float)
    for turn in np.unique(turns):
        requests = stage.completed[np.isnan(turns) if np.isnan(turn) else turns == turn]
        ttft = np.sort(finite_values(requests, "ttft_s"))
        yield {
            "load": stage.load,
            "turn": int(turn) if np.isfinite(turn) else None,
            "requests": len(requests),
            "ttft_p50_s": percentile(ttft, 0.5, stage.method) if len(ttft) else None,
            "ttft_p95_s": percentile(ttft, 0.95, stage.method) if len(ttft) else None,
            "input_tokens": _mean(requests, "input_tokens"),
            "cached_ratio": cached_ratio(requests),
            "reasoning_tokens": _mean(requests, "reasoning_tokens"),
        }


def _mean(requests: pd.DataFrame, column: str) -> float | None:
    values = finite_values(requests, column)
    return float(values.mean()) if len(values) else None
