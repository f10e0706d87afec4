"""Results of inference-perf: the records of all requests, with times in s of a monotonic clock, and a summary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from perfanalysis.files.documents import Document, finite_number, mapping
from perfanalysis.files.long_lists import LongLists
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.load_test.agreement import Stated
from perfanalysis.workloads.load_test.analysis import load_test_kind
from perfanalysis.workloads.load_test.document import KIND
from perfanalysis.workloads.load_test.marked_load import (
    monotonic_offset,
    one_stage,
    stated_count,
    stated_latency,
    summary_of,
)
from perfanalysis.workloads.load_test.records import of_lists, read_records
from perfanalysis.workloads.load_test.tables import LoadTables, RequestColumns, Times, Tokens

if TYPE_CHECKING:
    import pandas as pd

MARKER = "inference_perf.json"
RECORDS = "results/per_request_lifecycle_metrics.json"
SUMMARY = "results/summary_lifecycle_metrics.json"
MEASURES = {"request_latency": "latency_s", "time_to_first_token": "ttft_s"}
NAMES = {"mean": "mean", "median": "median", "p90": "p90", "p95": "p95", "p99": "p99"}


class Details(msgspec.Struct):
    """The kinds of the tokens."""

    cached_tokens: float | None = None
    reasoning_tokens: float | None = None


class Usage(msgspec.Struct):
    """The tokens that the server counted."""

    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    prompt_tokens_details: Details | None = None
    completion_tokens_details: Details | None = None


class Response(msgspec.Struct):
    """The times of the parts of a response, and its tokens: as the server counted them, else the generator."""

    server_usage: Usage | None = None
    output_tokens: float | None = None
    chunk_times: list[float] = []


class Info(msgspec.Struct):
    """The data about a request."""

    response_metrics: Response | None = None
    input_tokens: float | None = None


class Failure(msgspec.Struct):
    """Why a request failed."""

    error_type: str | None = None
    error_msg: str | None = None


class Request(msgspec.Struct):
    """A record: the parts that are read."""

    start_time: float
    end_time: float
    info: Info | None = None
    error: Failure | None = None


def parse(source: RecordingFiles) -> LoadTables:
    """Return the requests of the only stage, and the comparison of the summary with them."""
    document = source.document(MARKER, KIND)
    offset = monotonic_offset(source, document, RECORDS)
    columns = RequestColumns()
    lists = LongLists(source.path(RECORDS), frozenset(), 1)
    records = of_lists(lists, Request)
    read_records(source, RECORDS, "inference-perf", records, lambda _number, one: _add(columns, one, offset))
    asked = finite_number(mapping(document.get("load")).get("requests"))
    if asked is not None and len(columns.lists) < asked:
        # seen with version 0.7.0
        text = f"{asked:g} requests were set, but inference-perf recorded {len(columns.lists)}"
        source.find("warning", RECORDS, text)
    return one_stage(source, MARKER, summary_of(source, SUMMARY), columns, _stated)


def _add(columns: RequestColumns, one: Request, offset: float) -> None:
    info = one.info or Info()
    response = info.response_metrics or Response()
    usage = response.server_usage or Usage()
    first, last = (offset + response.chunk_times[place] if response.chunk_times else 0.0 for place in (0, -1))
    times = Times(offset + one.start_time, first, last, offset + one.end_time)
    tokens = Tokens(
        _first_known(usage.prompt_tokens, info.input_tokens),
        _first_known(usage.completion_tokens, response.output_tokens),
        _first_known((usage.prompt_tokens_details or Details()).cached_tokens),
        _first_known((usage.completion_tokens_details or Details()).reasoning_tokens),
    )
    failed = one.error is not None
    columns.add(0, int(failed), times, tokens, _reason(one.error) if one.error else None)


def _reason(error: Failure) -> str:
    return ": ".join(text for text in (error.error_type, error.error_msg) if text) or "no reason was recorded"


def _first_known(*counts: float | None) -> float:
    return next((count for count in counts if count is not None), np.nan)


def _stated(summary: Document, completed: pd.DataFrame) -> Iterator[Stated]:
    successes = mapping(summary.get("successes"))
    latencies = mapping(successes.get("latency"))
    for name, column in MEASURES.items():
        yield stated_latency(mapping(latencies.get(name)), NAMES, 1, completed[column])
    yield from stated_count(finite_number(successes.get("count")), completed)


WORKLOAD = load_test_kind("inference_perf", MARKER, (RECORDS, SUMMARY), parse)
