"""Results of aiperf: a line for each request in `profile_export.jsonl`, and a summary, with times in ns and ms."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from perfanalysis.files.documents import Document, finite_number, mapping
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.load_test.agreement import Stated
from perfanalysis.workloads.load_test.analysis import load_test_kind
from perfanalysis.workloads.load_test.marked_load import one_stage, stated_count, stated_latency, summary_of
from perfanalysis.workloads.load_test.records import of_lines, read_records
from perfanalysis.workloads.load_test.tables import LoadTables, RequestColumns, Times, Tokens, turn_of

if TYPE_CHECKING:
    import pandas as pd

MARKER = "aiperf.json"
RECORDS = "results/profile_export.jsonl"
SUMMARY = "results/profile_export_aiperf.json"
NS, MS = 1e9, 1e3
PROFILING = "profiling"
MEASURES = {
    "time_to_first_token": "ttft_s",
    "inter_token_latency": "itl_s",
    "request_latency": "latency_s",
}
NAMES = {"avg": "mean", "p50": "median", "p90": "p90", "p95": "p95", "p99": "p99"}


class Moments(msgspec.Struct):
    """When a request was sent and ended, the part of the load, and its turn."""

    request_start_ns: int
    request_end_ns: int
    was_cancelled: bool = False
    benchmark_phase: str = PROFILING
    session_num: float | None = None
    turn_index: float | None = None


class Measure(msgspec.Struct):
    """A number; lists are of other measures."""

    value: float | None = None


class Measures(msgspec.Struct):
    """The measures that are read: times in ms, and tokens."""

    time_to_first_token: Measure | None = None
    inter_token_latency: Measure | None = None
    input_sequence_length: Measure | None = None
    output_sequence_length: Measure | None = None
    usage_prompt_cache_read_tokens: Measure | None = None
    usage_reasoning_tokens: Measure | None = None
    reasoning_token_count: Measure | None = None


class Error(msgspec.Struct):
    """Why a request failed."""

    message: str | None = None
    type: str | None = None
    code: int | None = None


class Request(msgspec.Struct):
    """A record: the parts that are read."""

    metadata: Moments
    metrics: Measures | None = None
    error: Error | None = None


def parse(source: RecordingFiles) -> LoadTables:
    """Return the requests of the only stage, and the comparison of the summary with them."""
    columns = RequestColumns()
    read_records(source, RECORDS, "aiperf", of_lines(source, RECORDS, Request), partial(_add, columns))
    return one_stage(source, MARKER, summary_of(source, SUMMARY), columns, _stated)


def _add(columns: RequestColumns, number: int, one: Request) -> None:
    if one.metadata.benchmark_phase != PROFILING:
        return
    started, ended = one.metadata.request_start_ns / NS, one.metadata.request_end_ns / NS
    found = one.metrics or Measures()
    ttft = _value(found.time_to_first_token)
    first = 0.0 if np.isnan(ttft) else started + ttft / MS
    tokens = Tokens(
        _value(found.input_sequence_length),
        _value(found.output_sequence_length),
        _value(found.usage_prompt_cache_read_tokens),
        # as the server counts them, else by aiperf's tokenizer
        _value(found.usage_reasoning_tokens or found.reasoning_token_count),
    )
    # the request ends later than its last token, with the server's count of tokens
    last = first + _value(found.inter_token_latency) / MS * (tokens.answer - 1)
    last = ended if np.isnan(last) else last
    outcome = 2 if one.metadata.was_cancelled else int(one.error is not None)
    columns.add(
        number,
        outcome,
        Times(started, first, last, ended),
        tokens,
        _reason(one.error),
        turn_of(one.metadata.session_num, one.metadata.turn_index),
    )


def _reason(error: Error | None) -> str | None:
    if error is None:
        return None
    words = [text for text in (str(error.code) if error.code else "", error.message or error.type or "") if text]
    return " ".join(words) or "no reason was recorded"


def _value(measure: Measure | None) -> float:
    return np.nan if measure is None or measure.value is None else measure.value


def _stated(summary: Document, completed: pd.DataFrame) -> Iterator[Stated]:
    for name, column in MEASURES.items():
        yield stated_latency(mapping(summary.get(name)), NAMES, MS, completed[column])
    yield from stated_count(finite_number(mapping(summary.get("request_count")).get("avg")), completed)


WORKLOAD = load_test_kind("aiperf", MARKER, (RECORDS, SUMMARY), parse)
