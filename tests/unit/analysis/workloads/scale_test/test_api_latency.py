"""Latencies of the API server that the submitters measured, by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from perfanalysis.workloads.scale_test.api_latency import answers_table, requests_table, submitters_table
from perfanalysis.workloads.scale_test.tables import SUBMISSIONS

from tests.unit.analysis.hand_made import frame, submission


def rows(table: pd.DataFrame, *columns: str) -> list[list[Any]]:
    chosen = table[list(columns)].astype("object")
    return [[None if pd.isna(value) else value for value in row] for row in chosen.to_numpy().tolist()]


SENT = [
    submission("a", 1.0, answered_s=1.25),
    submission("b", 2.0, answered_s=4.0, attempts=3),
    submission("c", 3.0, answered_s=3.5, outcome="failed", status=403, attempts=2),
    submission("d", 4.0, answered_s=14.0, outcome="failed", status=None, attempts=9),
    submission("e", 5.0, answered_s=5.75, status=409, outcome="existed", attempts=2),
]


def test_responses_are_counted_by_status_with_retries_and_latencies() -> None:
    table = answers_table(frame(SUBMISSIONS, SENT), "linear")
    assert rows(table, "status", "outcome", "count", "retried", "attempts", "p50_s", "max_s") == [
        [201, "created", 2, 1, 4, (0.25 + 2.0) / 2, 2.0],
        # The median of one value is refused.
        [403, "failed", 1, 1, 2, None, 0.5],
        [409, "existed", 1, 1, 2, None, 0.75],
        [None, "failed", 1, 1, 9, None, 10.0],
    ]


def test_each_submitting_process_has_a_row() -> None:
    sent = [submission(f"w{number}", number / 10, submitter=number % 2) for number in range(40)]
    table = submitters_table(frame(SUBMISSIONS, sent), "linear")
    assert rows(table, "submitter", "workloads") == [[0, 20], [1, 20]]
    assert table["first_s"].tolist() == [0.0, 0.1]
    assert table["last_s"].tolist() == pytest.approx([3.8, 3.9])
    assert table["rate"].tolist() == pytest.approx([5.0, 5.0])
    assert table["p50_s"].tolist() == pytest.approx([0.01, 0.01])


def test_submissions_without_a_process_name_have_one_row() -> None:
    assert rows(submitters_table(frame(SUBMISSIONS, SENT), "linear"), "submitter", "workloads") == [[0, 5]]
    assert len(submitters_table(frame(SUBMISSIONS, []), "linear")) == 0


def test_requests_in_flight_are_counted_at_each_send() -> None:
    # b is in flight when c is sent, and is answered when d is sent; d is in flight when e is sent.
    table = submitters_table(frame(SUBMISSIONS, SENT), "linear")
    assert rows(table, "under_way", "most_under_way") == [[1, 2]]
    unanswered = [submission("a", 1.0, answered_s=None), submission("b", 99.0), submission("c", 100.0)]
    table = submitters_table(frame(SUBMISSIONS, unanswered), "linear")
    assert rows(table, "under_way", "most_under_way") == [[2, 2]]


def test_all_requests_equal_the_count_of_the_recorder() -> None:
    counted = {"answers": {"201": 40, "429": 2}, "retries": {"429": 2, "connection reset": 1}}
    table = requests_table({"client": {"requests": counted}})
    assert rows(table, "what", "cause", "count") == [
        ["answer", "201", 40],
        ["answer", "429", 2],
        ["retry", "429", 2],
        ["retry", "connection reset", 1],
    ]
    assert len(requests_table({})) == 0
