"""The KPIs of a stage of a load test. To add one: a function from Stage to Value, and a line in KPIS."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from perfanalysis.workloads.kpis import Kpi, KpiValue, StatisticOf
from perfanalysis.workloads.load_test.stages import LATENCIES, Stage
from perfanalysis.workloads.load_test.tables import COMPLETED, FAILED
from perfanalysis.workloads.load_test.turns import cached_ratio
from perfanalysis.workloads.percentiles import SHARES, Value

ENERGY = "energy_per_million_output_tokens"
NO_ENERGY = Value(None, "no power of GPUs was measured during the load")
_POWER = "gpu_all_power_mean"
NO_LIMITS = "no latency limit was stated (limits)"


def _latency(measure: str, statistic: str) -> Callable[[Stage], Value]:
    return lambda stage: stage.statistic(measure, statistic)


def _slope(measure: str) -> Callable[[Stage], Value]:
    return lambda stage: stage.slope(measure)


def _output_rate(stage: Stage) -> Value:
    tokens = stage.values("output_tokens")
    return stage.per_second(float(tokens.sum())) if len(tokens) else Value(None, "no answer states its tokens")


def _total_rate(stage: Stage) -> Value:
    tokens = (*stage.values("output_tokens"), *stage.values("input_tokens"))
    return stage.per_second(float(sum(tokens))) if tokens else Value(None, "no request states its tokens")


def _cached_ratio(stage: Stage) -> Value:
    ratio = cached_ratio(stage.completed)
    return Value(None, "no request states its cached tokens") if ratio is None else Value(ratio)


def _request_rate(stage: Stage) -> Value:
    return stage.per_second(float(len(stage.completed)))


def _failed(stage: Stage) -> Value:
    return Value(float(stage.count(FAILED)))


def _failed_ratio(stage: Stage) -> Value:
    failed, completed = stage.count(FAILED), stage.count(COMPLETED)
    return Value(failed / (failed + completed)) if failed + completed else Value(None, "no request ended")


def _goodput(stage: Stage) -> Value:
    return stage.per_second(float(stage.good)) if stage.test.limits else Value(None, NO_LIMITS)


def _good_ratio(stage: Stage) -> Value:
    if not stage.test.limits:
        return Value(None, NO_LIMITS)
    ended = stage.count(FAILED) + stage.count(COMPLETED)
    return Value(stage.good / ended) if ended else Value(None, "no request ended")


def _cost(stage: Stage) -> Value:
    if stage.test.hourly_price is None:
        return Value(None, stage.test.no_price)
    rate = _output_rate(stage)
    if not rate.number:
        return Value(None, rate.reason or "no token was generated")
    return Value(stage.test.hourly_price / 3600 / rate.number * 1e6)


def with_energy(kpis: Sequence[KpiValue], stages: Sequence[Stage]) -> tuple[KpiValue, ...]:
    """Return the KPIs of a recording, with the energy of a million tokens if the power of GPUs is among them.

    The power covers the whole recording, so it cannot be divided among several loads.
    """
    watts = next((kpi.number for kpi in kpis if kpi.name == _POWER and not kpi.labels), None)
    if watts is None or len(stages) != 1:
        return tuple(kpis)
    found = _energy(stages[0], watts)
    return tuple(
        structs.replace(kpi, number=found.number, reason=found.reason) if kpi.name == ENERGY else kpi for kpi in kpis
    )


def _energy(stage: Stage, watts: float) -> Value:
    rate = _output_rate(stage)
    if not rate.number:
        return Value(None, rate.reason or "no token was generated")
    return Value(watts / 3600 / rate.number * 1e6)


HEADLINES = {("ttft", "p95"): "TTFT, P95", ("itl", "p95"): "ITL, P95"}
KPIS: tuple[Kpi[Stage], ...] = (
    Kpi(
        "output_tokens_per_second", "Tokens of completed answers, by the length of the load", "tokens/s", "higher",
        _output_rate, "Tokens out",
    ),
    Kpi(
        "total_tokens_per_second", "Tokens of completed prompts and answers, by the length of the load", "tokens/s",
        "higher", _total_rate,
    ),
    Kpi("cached_tokens_ratio", "Share of the tokens of prompts that the server read from its cache, as it states them",
        "ratio", "higher", _cached_ratio),
    Kpi("requests_per_second", "Completed requests, by the length of the load", "requests/s", "higher", _request_rate),
    *(
        Kpi(
            f"{measure}_{statistic}", f"{statistic.upper()} of the {words}", "seconds", "lower",
            _latency(measure, statistic), HEADLINES.get((measure, statistic)),
            of=StatisticOf(measure, statistic, words),
        )
        for measure, (_, words) in LATENCIES.items()
        for statistic in (*SHARES, "mean", "max")
    ),
    *(
        Kpi(f"{measure}_{statistic}", f"{statistic.upper()} of the {words}", "seconds", "lower",
            _latency(measure, statistic))
        for measure, (_, words) in LATENCIES.items()
        for statistic in ("min", "p80")
    ),
    *(
        Kpi(f"{measure}_degrade_speed", f"Growth of the {LATENCIES[measure][1]} per second of the load, by a line",
            "seconds/s", "lower", _slope(measure))
        for measure in ("ttft", "request_latency")
    ),
    Kpi("requests_failed", "Requests that failed", "requests", "lower", _failed, "Failed"),
    Kpi("requests_failed_ratio", "Share of the ended requests that failed", "ratio", "lower", _failed_ratio),
    Kpi("goodput", "Completed requests within all stated limits, by the length of the load", "requests/s", "higher",
        _goodput, "Goodput"),
    Kpi("goodput_ratio", "Share of the ended requests that completed within all stated limits", "ratio", "higher",
        _good_ratio),
    Kpi("cost_per_million_output_tokens", "Price of the GPUs or machines for a million tokens of answers",
        "{cost}", "lower", _cost),
    Kpi(ENERGY, "Energy of all measured GPUs during the load, for a million tokens of answers", "Wh", "lower",
        lambda _stage: NO_ENERGY),
)  # fmt: skip
