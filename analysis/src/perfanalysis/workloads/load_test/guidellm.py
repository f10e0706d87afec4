"""Results of guidellm: `{benchmarks: [...]}`, a stage for each benchmark, with records of its requests.

Versions 0.2 and 0.3 have the times of a request in the record itself, 0.4 in `scheduler_info.request_timings` or
`info.timings`, later ones in `info.timings` under other names. A report that was written with a sample of its requests
contains only those.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec
import numpy as np

from perfanalysis.drawing.wording import counted
from perfanalysis.files.documents import Document, finite_number, listing, mapping, text_or_none
from perfanalysis.files.long_lists import LongLists
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.load_test.agreement import Stated, find_disagreements, rows
from perfanalysis.workloads.load_test.analysis import load_test_kind
from perfanalysis.workloads.load_test.records import of_lists, read_records
from perfanalysis.workloads.load_test.tables import (
    COMPLETED,
    FAILED,
    NO_TURN,
    STAGES,
    STATED,
    LoadTables,
    RequestColumns,
    Times,
    Tokens,
    turn_of,
)

MARKER = "guidellm.json"
RESULTS = ("results/benchmarks.json", "benchmarks.json")
LISTS = {"successful": 0, "errored": 1, "incomplete": 2}
"""guidellm's names for the lists of its requests, and their outcomes."""
MEASURES = {
    "time_to_first_token_ms": ("ttft_s", 1000.0, ""),
    "request_latency": ("latency_s", 1.0, ""),
    "inter_token_latency_ms": ("itl_s", 1000.0, "tokens - 1"),
    "time_per_output_token_ms": ("tpot_s", 1000.0, "tokens"),
}
"""A measure of its summary: our column, the factor, and the weight of each request."""
PERCENTILES = {"p90": "p90", "p95": "p95", "p99": "p99"}


class Timings(msgspec.Struct):
    """When a request was sent, its first and last part came, and it ended: s since the epoch."""

    request_start: float | None = None
    request_end: float | None = None
    first_token_iteration: float | None = None
    last_token_iteration: float | None = None
    first_iteration: float | None = None
    last_iteration: float | None = None


class Info(msgspec.Struct):
    """The scheduler's data about a request."""

    timings: Timings | None = None
    request_timings: Timings | None = None
    error: str | None = None
    conversation_id: str | None = None
    turn_index: float | None = None


class Request(msgspec.Struct):
    """A record of any version: the parts that are read."""

    info: Info | None = None
    scheduler_info: Info | None = None
    start_time: float | None = None
    end_time: float | None = None
    first_token_time: float | None = None
    last_token_time: float | None = None
    prompt_tokens: float | None = None
    output_tokens: float | None = None
    cached_tokens: float | None = None
    error: str | None = None


def parse(source: RecordingFiles) -> LoadTables:
    """Return the requests of every stage, and the comparison of each summary with them."""
    name = next((name for name in RESULTS if source.exists(name)), RESULTS[0])
    columns, lists = RequestColumns(), LongLists(source.path(name), frozenset(LISTS), 5)
    if not read_records(source, name, "guidellm", of_lists(lists, Request), partial(_add, columns)):
        return _tables(RequestColumns(), [])
    document = mapping(lists.document)
    benchmarks = [one for one in listing(document.get("benchmarks")) if isinstance(one, dict)]
    if not benchmarks:
        source.find("error", name, "it is not a result of guidellm: its list benchmarks is missing or empty")
    elif not len(columns.lists):
        source.find("error", name, "it has no records of requests; run guidellm with --output kind=json")
    tables = _tables(columns, benchmarks)
    find_disagreements(source, name, tables.stated)
    return tables


def _add(columns: RequestColumns, number: int, one: Request) -> None:
    info = one.info or one.scheduler_info
    timings = (info.timings or info.request_timings) if info else None
    if timings is not None:
        first = timings.first_token_iteration or timings.first_iteration
        last = timings.last_token_iteration or timings.last_iteration
        given = (timings.request_start, first, last, timings.request_end)
    else:
        given = (one.start_time, one.first_token_time, one.last_token_time, one.end_time)
    started, first_s, last_s, ended = (moment or 0.0 for moment in given)
    # 0.4 wrote the same time for both if an answer was immediate
    times = Times(started, 0.0 if first_s == last_s and (one.output_tokens or 0) > 1 else first_s, last_s, ended)
    counts = (one.prompt_tokens, one.output_tokens, one.cached_tokens)
    tokens = Tokens(*(np.nan if count is None else count for count in counts))
    turn = turn_of(_session(info.conversation_id), info.turn_index) if info else NO_TURN
    columns.add(number, -1, times, tokens, one.error or (info.error if info else None), turn)


def _session(conversation: str | None) -> float | None:
    # a number needs less memory than the ID; doubles have 53 bits
    return None if conversation is None else float(hash(conversation) & ((1 << 53) - 1))


def _tables(columns: RequestColumns, benchmarks: list[Document]) -> LoadTables:
    most = max(columns.lists, default=0) + 1
    stages, outcomes = [0] * most, [0] * most
    for stage, benchmark in enumerate(benchmarks):
        for key, outcome in LISTS.items():
            for number in listing(mapping(benchmark.get("requests")).get(key)):
                if isinstance(number, int) and 0 <= number < most:
                    stages[number], outcomes[number] = stage, outcome
    requests = columns.frame(stages, outcomes)
    return LoadTables(
        requests=requests,
        stages=STAGES.of_rows([_stage(stage, benchmark) for stage, benchmark in enumerate(benchmarks)]),
        stated=STATED.of_rows(list(rows(_stated(benchmarks, requests)))),
    )


def _stage(stage: int, benchmark: Document) -> dict[str, Any]:
    parts = [mapping(benchmark.get(part)) for part in ("config", "scheduler", "args")]
    strategy = next((found for part in parts if (found := mapping(part.get("strategy")))), {})
    kind = text_or_none(strategy.get("type_")) or "unknown"
    streams = 1.0 if kind == "synchronous" else finite_number(strategy.get("streams"))
    rate = finite_number(strategy.get("rate")) if kind in ("constant", "poisson") else None
    backend = mapping(mapping(benchmark.get("config")).get("backend"))
    model = text_or_none(backend.get("model")) or text_or_none(mapping(benchmark.get("worker")).get("backend_model"))
    begin, end = finite_number(benchmark.get("start_time")), finite_number(benchmark.get("end_time"))
    length = finite_number(benchmark.get("duration"))
    if length is None and begin is not None and end is not None:
        length = end - begin
    if streams is not None:
        load = counted(int(streams), "user")
    else:
        load = f"{rate:.3g} requests/s" if rate is not None else kind
    found = {"stage": stage, "load": load, "concurrency": streams, "rate": rate, "model": model or None}
    return {**found, "stated_duration_s": length}


def _stated(benchmarks: list[Document], requests: Any) -> Iterator[Stated]:
    of_stage, outcome = requests["stage"].to_numpy(dtype=np.int64), requests["outcome"].to_numpy()
    for stage, benchmark in enumerate(benchmarks):
        own = of_stage == stage
        completed = requests[own & (outcome == "completed")]
        metrics = mapping(benchmark.get("metrics"))
        totals = mapping(metrics.get("request_totals")) or mapping(benchmark.get("request_totals"))
        # it counts other cancelled requests than it records
        for key, ended in (("successful", COMPLETED), ("errored", FAILED)):
            number = finite_number(totals.get(key))
            if number is not None:
                chosen = own & (outcome == ended)
                yield Stated(stage, f"{key} requests", {"count": number}, np.where(chosen, 1.0, np.nan))
        tokens = completed["output_tokens"].to_numpy(dtype=float)
        for name, (column, factor, weight) in MEASURES.items():
            given = mapping(mapping(metrics.get(name)).get("successful"))
            percentiles = mapping(given.get("percentiles"))
            numbers = {"mean": given.get("mean"), "median": given.get("median")}
            numbers |= {ours: percentiles.get(theirs) for theirs, ours in PERCENTILES.items()}
            known = {
                key: number / factor for key, value in numbers.items() if (number := finite_number(value)) is not None
            }
            weights = None if not weight else np.nan_to_num(tokens - (weight != "tokens"))
            values = completed[column].to_numpy(dtype=float)
            yield Stated(stage, column.removesuffix("_s"), known, values, weights)


WORKLOAD = load_test_kind("guidellm", MARKER, RESULTS, parse)
