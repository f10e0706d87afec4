"""Queries over a window: their files, their failures, and the window itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted, UsageError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Address, Prometheus
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import NamedQuery
from ansible_collections.psap.perf.plugins.module_utils.prometheus.querying import (
    Span,
    await_scrape,
    run_queries,
    window_of,
)
from ansible_collections.psap.perf.plugins.module_utils.prometheus.windows import Window

from tests.schemas import check_file

from .server import Asked, refusal, serving, success

pytestmark = pytest.mark.slow

QUERIES = [NamedQuery("up", "up"), NamedQuery("broken", "sum(("), NamedQuery("a/b", "sum(x)"), NamedQuery("none", "y")]


def _answer(path: str, asked: Asked) -> tuple[int, Any]:
    if asked["query"] == ["sum(("]:
        return refusal(400, "bad_data", "1:6: parse error: unclosed left parenthesis")
    if asked["query"][0].startswith("y["):
        return success([])
    return success([{"metric": {"__name__": "up", "job": "x"}, "values": [[10.25, "1"], [12.25, "NaN"]]}])


def _never_stop() -> None:
    return None


def test_each_query_has_a_file_in_prometheus_format(tmp_path: Path) -> None:
    with serving(_answer) as fake, Prometheus(Address(fake.url, "for a test")) as prometheus:
        outcome = run_queries(prometheus, QUERIES, Window(10, 20), 0, tmp_path, _never_stop)
    assert outcome.files == ("up.json", "a%2Fb.json", "none.json")
    assert json.loads((tmp_path / "up.json").read_text()) == {
        "status": "success",
        "data": {
            "resultType": "matrix",
            "result": [{"metric": {"__name__": "up", "job": "x"}, "values": [[10.25, "1"], [12.25, "NaN"]]}],
        },
    }
    paths = [path for _method, path, _asked in fake.asked]
    assert paths == ["/api/v1/query", "/api/v1/query_range", "/api/v1/query_range", "/api/v1/query"]
    assert fake.asked[2][2]["step"] == ["1"]
    assert outcome.samples == 4


def test_failed_query_does_not_affect_others_and_is_listed(tmp_path: Path) -> None:
    with serving(_answer) as fake, Prometheus(Address(fake.url, "for a test")) as prometheus:
        outcome = run_queries(prometheus, QUERIES, Window(10, 20), 5, tmp_path, _never_stop)
    assert list(outcome.failed) == ["broken"]
    assert "unclosed left parenthesis (bad_data)" in outcome.failed["broken"]
    assert outcome.empty == ("none",)
    assert check_file(tmp_path / "prometheus_queries.yml") == "psap.perf/prometheus-queries/1"
    index = yaml.safe_load((tmp_path / "prometheus_queries.yml").read_text())
    assert (index["start_s"], index["end_s"], index["step_s"]) == (10, 20, 5)
    assert [(entry["name"], entry["file"], entry["series"]) for entry in index["queries"]] == [
        ("up", "up.json", 1),
        ("broken", None, None),
        ("a/b", "a%2Fb.json", 1),
        ("none", "none.json", 0),
    ]


def test_lost_prometheus_ends_the_queries(tmp_path: Path) -> None:
    with serving(_answer) as fake:
        pass
    with pytest.raises(ClusterError, match="cannot reach"):
        run_queries(Prometheus(Address(fake.url, "gone")), QUERIES, Window(0, 1), 0, tmp_path, _never_stop)


def test_interrupt_ends_the_queries(tmp_path: Path) -> None:
    def stop() -> None:
        raise Interrupted("the run was asked to stop")

    with (
        serving(_answer) as fake,
        Prometheus(Address(fake.url, "for a test")) as prometheus,
        pytest.raises(Interrupted),
    ):
        run_queries(prometheus, QUERIES, Window(0, 1), 0, tmp_path, stop)
    assert not fake.asked


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"duration_s": 10.0, "end_s": 5.0}, "excludes"),
        ({"duration_s": -1.0}, "cannot be negative"),
        ({}, "the window is missing"),
        ({"end_s": 5.0}, "the window is missing"),
    ],
)
def test_window_is_given_in_one_way(given: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Span(**given)


def test_length_reaches_back_from_the_newest_scrape() -> None:
    with (
        serving(lambda *_: success([{"metric": {}, "value": [1000.7, "1000.2"]}], "vector")) as fake,
        Prometheus(Address(fake.url, "for a test")) as prometheus,
    ):
        assert window_of(Span(duration_s=60.0), prometheus, now_s=5000.0) == Window(940.2, 1000.2)
        assert window_of(Span(start_s=10.0), prometheus, now_s=5000.0) == Window(10.0, 5000.0)
        assert window_of(Span(start_s=10.0, end_s=20.0), prometheus, now_s=5000.0) == Window(10.0, 20.0)
    assert len(fake.asked) == 1


def test_length_without_any_scrape_has_no_end() -> None:
    with (
        serving(lambda *_: success([], "vector")) as fake,
        Prometheus(Address(fake.url, "for a test")) as prometheus,
        pytest.raises(ClusterError, match="has scraped nothing in the last five minutes"),
    ):
        window_of(Span(duration_s=60.0), prometheus, now_s=0.0)


def test_early_or_partial_scrapes_do_not_complete_the_window() -> None:
    oldest, counts = iter(["99.5", "100", "100.1", "100.2"]), iter(["1", "4"])

    def say(path: str, asked: Asked) -> tuple[int, Any]:
        value = next(counts if asked["query"] == ["count(up)"] else oldest)
        return success([{"metric": {}, "value": [0, value]}], "vector")

    with serving(say) as fake, Prometheus(Address(fake.url, "for a test")) as prometheus:
        assert await_scrape(prometheus, 100.0, 30.0, _never_stop, targets=4)
    assert len(fake.asked) == 6


def test_missing_scrape_is_awaited_until_the_timeout() -> None:
    with (
        serving(lambda *_: success([], "vector")) as fake,
        Prometheus(Address(fake.url, "for a test")) as prometheus,
    ):
        assert not await_scrape(prometheus, 100.0, 0.0, _never_stop)


def test_query_of_the_whole_window_is_evaluated_once_at_its_end(tmp_path: Path) -> None:
    queries = [
        NamedQuery("p99_seconds", "histogram_quantile(0.99, rate(x_bucket[$WINDOW]))", ("value",), "lower"),
        NamedQuery("rate_per_second", "rate(x[$RANGE])", ("mean",), "higher"),
    ]

    def answer(_path: str, asked: Asked) -> tuple[int, Any]:
        # 15 s between two scrapes
        counted = asked["query"][0].startswith("min(count_over_time(up")
        series = {"metric": {}, "value": [20, "8" if counted else "1"]}
        return success([series if "start" not in asked else {"metric": {}, "values": [[10, "1"]]}])

    with serving(answer) as fake, Prometheus(Address(fake.url, "for a test")) as prometheus:
        run_queries(prometheus, queries, Window(10, 20), 0, tmp_path, _never_stop)
    (_, _, counted), (_, once, of_window), (_, often, _) = fake.asked
    assert counted["query"] == ["min(count_over_time(up[120s]))"]
    assert (once, of_window["time"], often) == ("/api/v1/query", ["20.000"], "/api/v1/query_range")
    assert check_file(tmp_path / "prometheus_queries.yml")
    listed = yaml.safe_load((tmp_path / "prometheus_queries.yml").read_text())["queries"]
    assert [(one["query"], one["statistics"], one["direction"]) for one in listed] == [
        ("histogram_quantile(0.99, rate(x_bucket[10000ms]))", ["value"], "lower"),
        ("rate(x[60000ms])", ["mean"], "higher"),
    ]
