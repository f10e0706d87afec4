"""Results of `vllm bench serve --save-detailed`: a list of each value of all requests, with times in s of a monotonic
clock, and a summary in ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from perfanalysis.files.bounded import LARGEST_LIST, content
from perfanalysis.files.documents import Document, finite_number
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.load_test.agreement import Stated
from perfanalysis.workloads.load_test.analysis import load_test_kind
from perfanalysis.workloads.load_test.document import KIND
from perfanalysis.workloads.load_test.marked_load import (
    Summary,
    monotonic_offset,
    one_stage,
    stated_count,
    stated_latency,
)
from perfanalysis.workloads.load_test.tables import LoadTables, RequestColumns, Times, Tokens

if TYPE_CHECKING:
    import pandas as pd

MARKER = "vllm_bench.json"
RESULTS = "results/benchmark.json"
MS = 1e3
MEASURES = {"ttft": "ttft_s", "e2el": "latency_s"}
STATISTICS = {"mean": "mean", "median": "median", "p90": "p90", "p95": "p95", "p99": "p99"}


class Results(msgspec.Struct):
    """The lists and the numbers that are read; a failed request has an error, and 0 in most lists."""

    start_times: list[float]
    latencies: list[float]
    ttfts: list[float]
    input_lens: list[float]
    output_lens: list[float]
    errors: list[str]
    completed: float | None = None
    mean_ttft_ms: float | None = None
    median_ttft_ms: float | None = None
    p90_ttft_ms: float | None = None
    p95_ttft_ms: float | None = None
    p99_ttft_ms: float | None = None
    mean_e2el_ms: float | None = None
    median_e2el_ms: float | None = None
    p90_e2el_ms: float | None = None
    p95_e2el_ms: float | None = None
    p99_e2el_ms: float | None = None


def parse(source: RecordingFiles) -> LoadTables:
    """Return the requests of the only stage, and the comparison of the summary with them."""
    offset = monotonic_offset(source, source.document(MARKER, KIND), RESULTS)
    columns = RequestColumns()
    results = _read(source)
    if results is None:
        return one_stage(source, MARKER, None, columns, _stated)
    _add(columns, results, offset)
    return one_stage(source, MARKER, Summary(RESULTS, msgspec.structs.asdict(results)), columns, _stated)


def _read(source: RecordingFiles) -> Results | None:
    """Return the results; None and a finding if they cannot be read."""
    try:
        results = msgspec.json.decode(content(source.path(RESULTS), LARGEST_LIST), type=Results)
    except FileNotFoundError:
        source.find("error", RESULTS, "the file is missing: vllm bench wrote no results")
    except (OSError, ValueError) as error:
        source.find("error", RESULTS, f"the file cannot be read: {error}")
    else:
        lists = (results.start_times, results.latencies, results.ttfts, results.input_lens, results.output_lens)
        if all(len(each) == len(results.errors) for each in lists):
            return results
        source.find("error", RESULTS, "its lists have different lengths")
    return None


def _add(columns: RequestColumns, results: Results, offset: float) -> None:
    lists = (results.start_times, results.latencies, results.ttfts, results.input_lens, results.output_lens)
    for start, latency, ttft, asked, answered, error in zip(*lists, results.errors, strict=True):
        started = offset + start
        ended = started + latency if latency else 0.0
        # a request ends with its last token
        times = Times(started, started + ttft if ttft else 0.0, ended, ended)
        # the cause of a traceback is its last line
        reason = error.strip().rpartition("\n")[2] if error else None
        columns.add(0, int(bool(error)), times, Tokens(asked, answered), reason)


def _stated(summary: Document, completed: pd.DataFrame) -> Iterator[Stated]:
    for name, column in MEASURES.items():
        values = {statistic: summary.get(f"{statistic}_{name}_ms") for statistic in STATISTICS}
        yield stated_latency(values, STATISTICS, MS, completed[column])
    yield from stated_count(finite_number(summary.get("completed")), completed)


WORKLOAD = load_test_kind("vllm_bench", MARKER, (RESULTS,), parse)
