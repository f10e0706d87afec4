"""The figures of load tests: of one stage or several, and of several recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, cumulative, in_rows, moments, seconds_scale
from perfanalysis.drawing.layers import labels_with_overlaps
from perfanalysis.workloads.load_test.serving import cause_of_knee
from perfanalysis.workloads.load_test.stages import LATENCIES, Stage
from perfanalysis.workloads.load_test.tables import FAILED, OUTCOMES

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

MOST_SERIES = 12
OF_FAILED = 5
"""The colour of failed requests, which no load has."""
FEWEST_FOR_KNEE = 4
FEWEST_FOR_COURSE = 3
LEAST_BEND = 0.1
"""How far above the straight line a knee must be, relative to the whole range."""
TITLES = {"ttft": "Time to first token", "itl": "Inter-token latency", "tpot": "Time per output token",
          "request_latency": "Request latency"}  # fmt: skip
COURSES = (
    ("output_tokens_per_second", "Tokens out", "tokens/s"),
    ("ttft_p50_s", "TTFT, median", ""),
    ("ttft_p95_s", "TTFT, P95", ""),
)
"""Values of repeated loads over time: column, title and unit, which is empty for seconds."""
Series = Mapping[str, "pd.DataFrame"]
"""Return rows of the table of stages for each line of a chart."""


def throughput_figure(series: Series) -> Figure | None:
    """Return tokens and requests per second against concurrency; None unless a line has two loads."""
    charts = []
    for column, title, unit in (
        ("output_tokens_per_second", "Tokens out", "tokens/s"),
        ("requests_per_second", "Requests", "requests/s"),
    ):
        layers = [
            _line(rows.sort_values("concurrency"), "concurrency", column, label, place)
            for place, (label, rows) in _shown(series)
        ]
        charts.append(
            Chart(title, Axis("requests at a time", low=0.0), Axis(title.lower(), unit, low=0.0), tuple(layers))
        )
    caption = "One point per load; concurrency as set, else as measured." + _omitted(series)
    return Figure("throughput", "Throughput against concurrency", caption, (tuple(charts),)) if _drawn(series) else None


def latency_figure(series: Series) -> Figure | None:
    """Return TTFT and request latency against throughput with the knee marked; None unless a line has two loads."""
    charts, knees = [], []
    causes: dict[str, None] = {}
    for measure in ("ttft", "request_latency"):
        column = f"{measure}_p95_s"
        factor, unit = seconds_scale(*(rows[column].to_numpy(dtype=float) for _, rows in series.items()))
        layers = []
        for place, (label, rows) in _shown(series):
            ordered = rows.sort_values("concurrency")
            layers.append(_line(ordered, "output_tokens_per_second", column, label, place, factor))
            found = knee(*(ordered[name].to_numpy(dtype=float) for name in ("output_tokens_per_second", column)))
            if found is not None:
                row = ordered.iloc[found]
                at = np.array([row["output_tokens_per_second"]], dtype=float)
                layers.append(moments(at, f"knee of {label}: {row['load']}", place + len(series)))
                knees.append(found)
                causes[cause_of_knee(ordered, found)] = None
        x, y = Axis("tokens out", "tokens/s", low=0.0), Axis(f"{TITLES[measure]}, P95", unit, low=0.0)
        charts.append(Chart(TITLES[measure], x, y, tuple(layers)))
    bend = "the knee is the load farthest from the straight line between the first and the last"
    caption = f"One point per load, in the order of concurrency; {bend}{'' if knees else '; no load is a knee here'}."
    known = Figure(
        "latency", "Latency against throughput", caption + "".join(causes) + _omitted(series), (tuple(charts),)
    )
    return known if _drawn(series) else None


def spread_figure(series: Series) -> Figure | None:
    """Return P10, P50 and P90 of TTFT, ITL and output rate against concurrency; None unless a line has two loads."""
    charts = []
    for measure, title in (
        ("ttft", TITLES["ttft"]),
        ("itl", TITLES["itl"]),
        ("output_rate", "Output rate of a request"),
    ):
        suffix = "" if measure == "output_rate" else "_s"
        columns = [f"{measure}_{share}{suffix}" for share in ("p10", "p50", "p90")]
        values = (rows[column].to_numpy(dtype=float) for rows in series.values() for column in columns)
        factor, unit = seconds_scale(*values) if suffix else (1.0, "tokens/s")
        layers = tuple(layer for place, own in _shown(series) for layer in _fan(*own, columns, place, factor))
        if any(len(layer.x) for layer in layers):
            charts.append(Chart(title, Axis("requests at a time", low=0.0), Axis("", unit, low=0.0), layers))
    caption = "One point per load: the median of its completed requests, and P10 and P90 as dashed lines."
    known = bool(charts) and _drawn(series)
    return (
        Figure("spread", "Spread against concurrency", caption + _omitted(series), in_rows(charts)) if known else None
    )


def _fan(label: str, rows: pd.DataFrame, columns: Sequence[str], place: int, factor: float) -> tuple[Layer, ...]:
    ordered = rows.sort_values("concurrency")
    return tuple(
        replace(_line(ordered, "concurrency", column, f"{label}, {share}", place, factor), dashed=share != "P50")
        for share, column in zip(("P10", "P50", "P90"), columns, strict=True)
    )


def repeated_figure(series: Series) -> Figure | None:
    """Return throughput and TTFT of repeated loads, by their start; None unless one was repeated three times."""
    repeated = {
        f"{label}, {load}": own.sort_values("began_s")
        for label, rows in series.items()
        for load, own in rows.groupby("load", sort=False)
        if len(own) >= FEWEST_FOR_COURSE
    }
    if not repeated:
        return None
    begin = min(float(rows["began_s"].min()) for rows in repeated.values())
    courses = {
        label: rows.assign(minutes=(rows["began_s"].astype(float) - begin) / 60.0) for label, rows in repeated.items()
    }
    charts = []
    for column, title, rate in COURSES:
        values = (rows[column].to_numpy(dtype=float) for rows in courses.values())
        factor, unit = (1.0, rate) if rate else seconds_scale(*values)
        layers = tuple(_line(rows, "minutes", column, label, place, factor) for place, (label, rows) in _shown(courses))
        if any(len(layer.x) for layer in layers):
            x, y = Axis("start, since the first load", "min", low=0.0), Axis(title, unit, low=0.0)
            charts.append(Chart(title, x, y, layers))
    caption = "One point per load; the same load, repeated." + _omitted(courses)
    return Figure("repeated", "Repeated loads over time", caption, (tuple(charts),))


def knee(throughput: NDArray[np.float64], latency: NDArray[np.float64]) -> int | None:
    """Return the index where more load increases latency rather than throughput; None if there is no bend.

    Both as parts of their ranges: the point where throughput is farthest ahead of latency.
    """
    known = np.flatnonzero(np.isfinite(throughput) & np.isfinite(latency))
    if len(known) < FEWEST_FOR_KNEE:
        return None
    x, y = throughput[known], latency[known]
    if np.ptp(x) <= 0 or np.ptp(y) <= 0:
        return None
    ahead = (x - x.min()) / np.ptp(x) - (y - y.min()) / np.ptp(y)
    best = int(np.argmax(ahead))
    return int(known[best]) if ahead[best] >= LEAST_BEND else None


def distributions_figure(stages: Sequence[Stage]) -> Figure | None:
    """Return the share of requests up to each latency, one curve per stage."""
    charts = []
    for measure, (column, _) in LATENCIES.items():
        values = [(stage.load, stage.values(column)) for stage in stages[:MOST_SERIES]]
        known = [(label, own) for label, own in values if len(own)]
        if known:
            factor, unit = seconds_scale(*(own for _, own in known))
            layers = _curves([(label, factor * own) for label, own in known])
            share = Axis("requests", "%", low=0.0, high=100.0)
            charts.append(Chart(TITLES[measure], Axis(TITLES[measure].lower(), unit, low=0.0), share, layers))
    rows = tuple(tuple(charts[place : place + 2]) for place in range(0, len(charts), 2))
    caption = "Completed requests: the share that took at most this long." + _more(len(stages))
    return Figure("distributions", "Distributions of latencies", caption, rows) if rows else None


def timeline_figure(stages: Sequence[Stage]) -> Figure | None:
    """Return every request by its start and duration, failed ones in a separate colour."""
    import pandas as pd

    shown = stages[:MOST_SERIES]
    begin = min((float(start) for one in shown if np.isfinite(start := one.requests["started_s"].min())), default=None)
    if begin is None:
        return None
    factor, unit = seconds_scale(*(stage.values("latency_s") for stage in shown))
    colours = [place + (place >= OF_FAILED) for place in range(len(shown))]
    layers = [
        _points(one.completed, one.load, colour, begin, factor) for one, colour in zip(shown, colours, strict=True)
    ]
    failed = [stage.requests[stage.requests["outcome"] == FAILED] for stage in shown]
    if any(len(rows) for rows in failed):
        layers.append(_points(pd.concat(failed), "failed", OF_FAILED, begin, factor))
    axis = Axis("sent, since the first request", "s", low=0.0)
    chart = Chart("Requests", axis, Axis("request latency", unit, low=0.0), tuple(layers), height=320)
    caption = f"One point per request that completed or failed; {sum(map(len, failed))} failed."
    return Figure("timeline", "Requests over time", caption + _more(len(stages)), ((chart,),))


def _points(rows: pd.DataFrame, label: str, colour: int, begin: float, factor: float) -> Layer:
    x, y = (rows[name].to_numpy(dtype=float) for name in ("started_s", "latency_s"))
    known = np.isfinite(x) & np.isfinite(y)
    return Layer("points", label, x[known] - begin, factor * y[known], colour)


def tokens_figure(stages: Sequence[Stage]) -> Figure | None:
    """Return tokens in and out of the completed requests."""
    charts = []
    for column, title in (("input_tokens", "Tokens in"), ("output_tokens", "Tokens out")):
        values = [(stage.load, stage.values(column)) for stage in stages[:MOST_SERIES]]
        layers = _curves([(label, own) for label, own in values if len(own)])
        if layers:
            share = Axis("requests", "%", low=0.0, high=100.0)
            charts.append(Chart(title, Axis(title.lower(), "tokens", low=0.0), share, layers))
    caption = "Completed requests: the share that had at most this many." + _more(len(stages))
    return Figure("tokens", "Tokens in and out", caption, (tuple(charts),)) if charts else None


def outcomes_figure(stages: Sequence[Stage]) -> Figure | None:
    """Return how the requests of each stage ended; None if all completed."""
    if all(stage.count(outcome) == 0 for stage in stages for outcome in OUTCOMES[1:]):
        return None
    shown = stages[:MOST_SERIES]
    width = 0.8 / len(OUTCOMES)
    layers = tuple(
        Layer(
            "sidebars", outcome, np.array([float(stage.count(outcome)) for stage in shown]),
            np.arange(len(shown), dtype=float) - 0.4 + width * (place + 0.5), (2, 5, 6)[place], width=width,
        )
        for place, outcome in enumerate(OUTCOMES)
    )  # fmt: skip
    names = Axis("", categories=tuple(stage.load for stage in shown))
    chart = Chart("Requests", Axis("requests", low=0.0), names, layers, height=100 + 50 * len(shown))
    caption = "Cancelled: not ended at the end of the load." + _more(len(stages))
    return Figure("outcomes", "How requests ended", caption, ((chart,),))


def _curves(values: Sequence[tuple[str, NDArray[np.float64]]]) -> tuple[Layer, ...]:
    labels = labels_with_overlaps([label for label, _ in values], [own for _, own in values])
    return tuple(
        cumulative(own, label, place) for place, (label, (_, own)) in enumerate(zip(labels, values, strict=True))
    )


def _line(
    rows: pd.DataFrame, x: str, y: str, label: str, place: int, factor: float = 1.0
) -> Layer:  # fmt: skip
    across, up = rows[x].to_numpy(dtype=float), factor * rows[y].to_numpy(dtype=float)
    known = np.isfinite(across) & np.isfinite(up)
    return Layer("line", label, across[known], up[known], place, dots=True)


def _shown(series: Series) -> list[tuple[int, tuple[str, pd.DataFrame]]]:
    return list(enumerate(series.items()))[:MOST_SERIES]


def _drawn(series: Series) -> bool:
    return any(len(rows) > 1 for rows in series.values())


def _omitted(series: Series) -> str:
    return f" The first {MOST_SERIES} of {len(series)} lines." if len(series) > MOST_SERIES else ""


def _more(count: int) -> str:
    return f" The first {MOST_SERIES} of {count} loads." if count > MOST_SERIES else ""
