"""What the load generator and the model server recorded at the same time, on one time axis; and the cause of a knee."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, in_rows, seconds_scale
from perfanalysis.workloads.load_test.tables import COMPLETED
from perfanalysis.workloads.prometheus_ranges import Ranges

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from perfanalysis.workloads.kpis import KpiValue

BINS = 40
"""Intervals of the load in which tokens and latencies are summarized."""
SHORTEST_BIN_S = 1.0
CAUSES = {
    "server_waiting_requests_mean": "waiting requests, mean",
    "server_kv_cache_usage_max": "KV cache, maximum",
    "container_all_cpu_throttled_mean": "CPU throttled, mean",
    "server_preemptions_integral": "preemptions",
}
"""KPIs that may show the cause of a knee, with words."""
RUNNING = {"server_running_requests": "running, server", "server_waiting_requests": "waiting, server"}
CACHE = {"server_kv_cache_usage_ratio": "KV cache", "server_prefix_cache_hits_ratio": "prefix cache, hits"}
TOKENS = {"server_output_tokens_per_second": "server"}
"""Queries of charts, with the labels of their lines."""


@dataclass(frozen=True)
class Latency:
    """A latency of both sides: the column of requests, and the part of the queries' names."""

    title: str
    column: str
    query: str


LATENCIES = (
    Latency("Time to first token", "ttft_s", "ttft"),
    Latency("Inter-token latency", "itl_s", "itl"),
    Latency("Request latency", "latency_s", "e2e"),
)
Samples = tuple["NDArray[np.float64]", "NDArray[np.float64]"]
"""Times since the start of the load, and values."""


def serving_figure(requests: pd.DataFrame, windows: Sequence[Ranges], period: tuple[float, float]) -> Figure | None:
    """Return requests, cache, tokens and latencies of both sides during the load; None without values of the server."""
    server = _server(windows, period)
    if not server:
        return None
    begin, end = period
    edges = np.linspace(begin, end, max(2, min(BINS, int((end - begin) / SHORTEST_BIN_S))) + 1)
    completed = requests[requests["outcome"] == COMPLETED]
    length = period[1] - period[0]
    requests_axis = Axis("requests", low=0.0)
    flight = Layer("steps", "in flight, load", *_in_flight(requests, begin), 0)
    rate = Layer("steps", "load", *_token_rate(completed, edges, begin), 0)
    charts = [
        _chart("Requests", requests_axis, (flight, *_lines(server, RUNNING)), length),
        _chart("KV cache", Axis("", "%", low=0.0, high=100.0), _lines(server, CACHE, 100.0), length),
        _chart("Tokens out", Axis("", "tokens/s", low=0.0), (rate, *_lines(server, TOKENS)), length),
        *(_latency(latency, completed, edges, server) for latency in LATENCIES),
    ]
    caption = "Requests of the load by the time of their end; the server as it was scraped."
    return Figure("load_and_server", "Load and server", caption, in_rows([one for one in charts if one.layers]))


def _server(windows: Sequence[Ranges], period: tuple[float, float]) -> dict[str, Samples]:
    """Return the single series of each query about servers during the load; of several windows, the first with it."""
    found: dict[str, Samples] = {}
    for window in windows:
        names = window.samples["query"].astype("str")
        chosen = window.samples[
            names.str.startswith("server_") & window.samples["at_s"].between(*period) & window.samples["value"].notna()
        ]
        for name, own in chosen.groupby(chosen["query"].astype("str")):
            if own["labels"].nunique() == 1 and len(own) > 1:
                times = own["at_s"].to_numpy(dtype=float) - period[0]
                found.setdefault(str(name), (times, own["value"].to_numpy(dtype=float)))
    return found


def _chart(title: str, axis: Axis, layers: Iterable[Layer], length_s: float) -> Chart:
    time = Axis("time since the start of the load", "s", low=0.0, high=length_s)
    return Chart(title, time, axis, tuple(layer for layer in layers if len(layer.x)), height=240)


def _lines(server: Mapping[str, Samples], names: Mapping[str, str], factor: float = 1.0) -> Iterator[Layer]:
    for place, (name, label) in enumerate(names.items()):
        if name in server:
            times, values = server[name]
            yield Layer("line", label, times, factor * values, place + 1)


def _in_flight(requests: pd.DataFrame, begin: float) -> Samples:
    """Return the number of requests that were sent and had not ended, at each change."""
    known = requests[requests["started_s"].notna() & requests["ended_s"].notna()]
    times = np.concatenate([known["started_s"].to_numpy(dtype=float), known["ended_s"].to_numpy(dtype=float)])
    changes = np.concatenate([np.ones(len(known)), -np.ones(len(known))])
    # a user sends its next request when one has ended
    order = np.lexsort((changes, times))
    return times[order] - begin, np.cumsum(changes[order])


def _token_rate(completed: pd.DataFrame, edges: NDArray[np.float64], begin: float) -> Samples:
    """Return the tokens of answers per second in each interval, each answer spread from its first token to its end."""
    ended = completed["ended_s"].to_numpy(dtype=float)
    first = completed["started_s"].to_numpy(dtype=float) + np.nan_to_num(completed["ttft_s"].to_numpy(dtype=float))
    tokens = np.nan_to_num(completed["output_tokens"].to_numpy(dtype=float))
    width = edges[1] - edges[0]
    length = np.maximum(ended - first, 1e-9)
    overlaps = (np.clip(np.minimum(ended, right) - np.maximum(first, right - width), 0.0, None) for right in edges[1:])
    rates = [float(np.nansum(tokens * overlap / length) / width) for overlap in overlaps]
    return edges[:-1] - begin, np.array(rates)


def _latency(
    latency: Latency, completed: pd.DataFrame, edges: NDArray[np.float64], server: Mapping[str, Samples]
) -> Chart:
    ended, values = (completed[name].to_numpy(dtype=float) for name in ("ended_s", latency.column))
    place = np.clip(np.searchsorted(edges, ended, side="right") - 1, 0, len(edges) - 2)
    groups = [values[(place == one) & np.isfinite(values)] for one in range(len(edges) - 1)]
    filled = [one for one, group in enumerate(groups) if len(group)]
    middles = ((edges[:-1] + edges[1:]) / 2 - edges[0])[filled]
    drawn: list[tuple[str, NDArray[np.float64], NDArray[np.float64]]] = [
        (f"{name}, load", middles, np.array([np.quantile(groups[one], share) for one in filled]))
        for name, share in (("P50", 0.5), ("P95", 0.95))
    ]
    for word in ("P50", "P95"):
        samples = server.get(f"server_{latency.query}_{word.lower()}_seconds")
        if samples is not None:
            drawn.append((f"{word}, server", *samples))
    factor, unit = seconds_scale(*(own for _, _, own in drawn))
    layers = [
        Layer("line", label, times, factor * own, number, dashed=label.startswith("P95"), dots=len(times) <= BINS)
        for number, (label, times, own) in enumerate(drawn)
    ]
    return _chart(latency.title, Axis("", unit, low=0.0), layers, float(edges[-1] - edges[0]))


def causes_of(kpis: Sequence[KpiValue]) -> dict[str, float]:
    """Return the values of a recording that may show the cause of a knee."""
    return {kpi.name: kpi.number for kpi in kpis if kpi.name in CAUSES and not kpi.labels and kpi.number is not None}


def cause_of_knee(rows: pd.DataFrame, knee: int) -> str:
    """Return a sentence with the numbers that grow beyond the knee; empty if none does.

    `rows` are the loads in the order of concurrency, with the columns of CAUSES that are known.
    """
    after = len(rows) - 1
    if after <= knee:
        return ""
    found = []
    for column, words in CAUSES.items():
        if column in rows.columns:
            values = rows[column].to_numpy(dtype=float)
            here, beyond = values[knee], values[after]
            if np.isfinite(here) and np.isfinite(beyond) and _shows_cause(column, here, beyond):
                found.append(f"{words}: {_number(column, here)} to {_number(column, beyond)}")
    loads = f"from the knee ({rows['load'].iloc[knee]}) to {rows['load'].iloc[after]}"
    return f" On the server, {loads}: {'; '.join(found)}." if found else ""


def _shows_cause(column: str, here: float, beyond: float) -> bool:
    """Return whether a value grew so much beyond the knee that it explains the latency."""
    if column.endswith("usage_max"):
        return bool(beyond >= 0.95 > here)
    if column.endswith("throttled_mean"):
        return bool(beyond >= 0.05 and beyond >= 2 * here)
    return bool(beyond >= 0.5 and beyond >= 2 * here)


def _number(column: str, value: float) -> str:
    ratio = column.endswith(("usage_max", "throttled_mean"))
    return f"{100 * value:.0f} %" if ratio else f"{value:.1f}"
