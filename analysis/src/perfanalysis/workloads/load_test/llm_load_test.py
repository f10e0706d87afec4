"""Results of llm-load-test: `{results, config, summary}`, with the records of all requests, times in s and ms."""

from __future__ import annotations

from array import array
from typing import Any

import msgspec
import numpy as np

from perfanalysis.drawing.wording import counted
from perfanalysis.files.documents import Document, finite_number, mapping, text_or_none
from perfanalysis.files.long_lists import LongLists
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.load_test.agreement import Stated, find_disagreements, rows
from perfanalysis.workloads.load_test.analysis import load_test_kind
from perfanalysis.workloads.load_test.records import of_lists, read_records
from perfanalysis.workloads.load_test.tables import STAGES, STATED, LoadTables, RequestColumns, Times, Tokens

MARKER = "llm_load_test.json"
RESULTS = ("output/output.json", "output.json")
MEASURES = {"ttft": "ttft_s", "itl": "itl_s", "tpot": "tpot_s", "response_time": "latency_s"}
NAMES = {"mean": "mean", "median": "median", "percentile_90": "p90", "percentile_95": "p95", "percentile_99": "p99"}


class Request(msgspec.Struct):
    """A record: the parts that are read. Times are s since the epoch; other durations are computed from them."""

    start_time: float | None = None
    first_token_time: float | None = None
    ack_time: float | None = None
    end_time: float | None = None
    ttft: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    output_tokens_before_timeout: float | None = None
    stop_reason: str | None = None
    error_code: str | int | None = None
    # the server's error, which is an object if it sent one
    error_text: str | dict[str, Any] | None = None


def parse(source: RecordingFiles) -> LoadTables:
    """Return the requests of the only stage, and the comparison of the summary with them."""
    name = next((name for name in RESULTS if source.exists(name)), RESULTS[0])
    columns, late = RequestColumns(), array("b")
    lists = LongLists(source.path(name), frozenset({"results"}), 2)

    def add(number: int, one: Request) -> None:
        _add(columns, number, one)
        late.append(one.output_tokens != one.output_tokens_before_timeout)

    if not read_records(source, name, "llm-load-test", of_lists(lists, Request), add):
        return _tables(RequestColumns(), {}, array("b"))
    document = mapping(lists.document)
    if "config" not in document or not isinstance(document.get("results"), list):
        source.find("error", name, "it is not a result of llm-load-test: results or config is missing")
    tables = _tables(columns, document, late)
    find_disagreements(source, name, tables.stated)
    return tables


def _add(columns: RequestColumns, number: int, one: Request) -> None:
    failed = bool(one.error_text) or one.error_code not in (None, "", 0)
    # an answer that is not streamed has a TTFT of 0, or none
    first = (one.first_token_time or one.ack_time or 0.0) if one.ttft else 0.0
    ended = one.end_time or 0.0
    times = Times(one.start_time or 0.0, first, ended, ended)
    tokens = Tokens(_number(one.input_tokens), _number(one.output_tokens))
    columns.add(number, 1 if failed else 0, times, tokens, _reason(one) if failed else None)


def _reason(one: Request) -> str:
    """Only the code is stated if a stream ended without a token."""
    if isinstance(one.error_text, dict):
        return str(one.error_text.get("message") or one.error_text)
    return one.error_text or f"status {one.error_code} without a message"


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _tables(columns: RequestColumns, document: Document, late: array[int]) -> LoadTables:
    config, summary = mapping(document.get("config")), mapping(document.get("summary"))
    options = mapping(config.get("load_options"))
    concurrency = finite_number(options.get("concurrency"))
    stage = {
        "stage": 0,
        "load": text_or_none(options.get("type")) if concurrency is None else counted(int(concurrency), "user"),
        "concurrency": concurrency,
        "model": text_or_none(mapping(config.get("plugin_options")).get("model_name")),
        "stated_duration_s": finite_number(summary.get("full_duration")) or finite_number(options.get("duration")),
    }
    # one stage for any length of the list: this program writes no document with several stages
    most = max(columns.lists, default=0) + 1
    requests = columns.frame([0] * most, [0] * most)
    return LoadTables(
        requests=requests,
        stages=STAGES.of_rows([stage] if document else []),
        stated=STATED.of_rows(list(rows(_stated(summary, requests, np.array(late, dtype=bool))))),
    )


def _stated(summary: Document, requests: Any, late: Any) -> list[Stated]:
    """Its statistics cover requests that did not fail and were answered before the end of the load."""
    outcome = requests["outcome"].to_numpy()
    counted = requests[(outcome == "completed") & ~late]
    found = [
        Stated(
            0, column.removesuffix("_s"), _seconds(mapping(summary.get(name))), counted[column].to_numpy(dtype=float)
        )
        for name, column in MEASURES.items()
    ]
    totals = (("requests", "total_requests", outcome != ""), ("failures", "total_failures", outcome == "failed"))
    for measure, name, chosen in totals:
        number = finite_number(summary.get(name))
        if number is not None:
            found.append(Stated(0, measure, {"count": number}, np.where(chosen, 1.0, np.nan)))
    return found


def _seconds(given: Document) -> dict[str, float]:
    numbers = {ours: finite_number(given.get(theirs)) for theirs, ours in NAMES.items()}
    return {name: number / 1000 for name, number in numbers.items() if number is not None}


WORKLOAD = load_test_kind("llm_load_test", MARKER, RESULTS, parse)
