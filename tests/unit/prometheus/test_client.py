"""The client of Prometheus, against a simulated server."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.answers import Series
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import (
    Address,
    Prometheus,
    RefusedError,
    Target,
)
from ansible_collections.psap.perf.plugins.module_utils.prometheus.windows import Window, halves, parts, step_for

from .server import Asked, FakePrometheus, refusal, serving, success


def _points(asked: Asked) -> list[list[Any]]:
    """Return a range in which each point's value is its time."""
    start, end, step = (float(asked[name][0]) for name in ("start", "end", "step"))
    return [[start + place * step, str(start + place * step)] for place in range(int((end - start) / step + 1e-9) + 1)]


def _ranges(path: str, asked: Asked) -> tuple[int, Any]:
    return success([{"metric": {"gpu": "0"}, "values": _points(asked)}])


def _client(fake: FakePrometheus, **more: Any) -> Prometheus:
    return Prometheus(Address(fake.url, "for a test", **more))


@pytest.mark.parametrize(("length", "step"), [(0, 1), (5, 1), (300, 1), (301, 2), (3600, 12), (86400, 288)])
def test_step_is_a_three_hundredth_in_whole_seconds(length: int, step: int) -> None:
    assert step_for(Window(1000, 1000 + length)) == step


def test_parts_have_every_point_once_in_place() -> None:
    found = list(parts(Window(100, 123), 5, most_points=2))
    assert [(part.start_s, part.end_s) for part in found] == [(100, 105), (110, 115), (120, 123)]
    assert list(parts(Window(100, 100), 5)) == [Window(100, 100)]
    assert halves(Window(100, 123), 5) == (Window(100, 105), Window(110, 123))
    assert halves(Window(100, 104), 5) is None


def test_window_does_not_end_before_it_begins() -> None:
    with pytest.raises(UsageError, match="before it begins"):
        Window(2, 1)


def test_range_is_queried_in_parts_and_joined() -> None:
    with serving(_ranges) as fake, _client(fake) as prometheus:
        answer = prometheus.query_range("x", Window(0, 20), 2, most_points=4)
    assert [asked["start"] for _method, _path, asked in fake.asked] == [["0.000"], ["8.000"], ["16.000"]]
    assert answer.series == (Series({"gpu": "0"}, tuple((float(at), f"{at}.0") for at in range(0, 21, 2))),)
    assert answer.series[0].numbers == tuple(range(0, 21, 2))
    assert answer.samples == 11


def test_oversized_query_is_halved() -> None:
    def say(path: str, asked: Asked) -> tuple[int, Any]:
        if len(_points(asked)) > 3:
            return refusal(422, "execution", "query processing would load too many samples into memory")
        return _ranges(path, asked)

    with serving(say) as fake, _client(fake) as prometheus:
        answer = prometheus.query_range("x", Window(0, 9), 1)
    assert [at for at, _value in answer.series[0].samples] == [float(at) for at in range(10)]
    assert len(fake.asked) == 7


def test_single_oversized_point_is_refused() -> None:
    with serving(lambda *_: refusal(422, "execution", "too many samples")) as fake, _client(fake) as prometheus:
        with pytest.raises(RefusedError, match="too many samples"):
            prometheus.query_range("x", Window(0, 0), 1)
        with pytest.raises(RefusedError, match="too many samples"):
            prometheus.raw("x", Window(0, 0.5))


def test_scraped_samples_are_queried_with_both_ends() -> None:
    with serving(lambda *_: success([])) as fake, _client(fake) as prometheus:
        prometheus.raw("up", Window(10, 20.5))
    assert fake.asked == [("GET", "/api/v1/query", {"query": ["up[10501ms]"], "time": ["20.500"]})]


def test_server_warnings_are_kept_once() -> None:
    with serving(lambda *_: success([], warnings=["partial"])) as fake, _client(fake) as prometheus:
        answer = prometheus.query_range("x", Window(0, 10), 1, most_points=5)
    assert answer.warnings == ("partial",)
    assert answer.document()["warnings"] == ["partial"]


def test_scalar_is_a_series_without_labels() -> None:
    with serving(lambda *_: success([5.5, "3"], "scalar")) as fake, _client(fake) as prometheus:
        assert prometheus.query("3").series == (Series({}, ((5.5, "3"),)),)


def test_long_query_uses_the_body_and_a_short_one_the_url() -> None:
    with serving(lambda *_: success([])) as fake, _client(fake) as prometheus:
        prometheus.query("short")
        prometheus.query("sum(long) or " * 200 + "vector(0)")
    assert [method for method, _path, _asked in fake.asked] == ["GET", "POST"]


def test_token_is_only_in_the_header() -> None:
    with serving(lambda *_: success([])) as fake:
        address = Address(fake.url, "for a test", token="s3cret-token")
        with Prometheus(address) as prometheus:
            prometheus.query("up")
    assert fake.headers["Authorization"] == "Bearer s3cret-token"
    assert "s3cret" not in repr(address)


def test_administrator_requests_use_the_admin_api() -> None:
    def say(path: str, asked: Asked) -> tuple[int, Any]:
        return (200, {"status": "success", "data": {"name": "20260101"}}) if "snapshot" in path else (204, b"")

    with serving(say) as fake, _client(fake) as prometheus:
        prometheus.delete_series()
        prometheus.clean_tombstones()
        assert prometheus.snapshot() == "20260101"
    admin = "/api/v1/admin/tsdb"
    assert fake.asked == [
        ("POST", f"{admin}/delete_series", {"match[]": ['{__name__=~".+"}']}),
        ("POST", f"{admin}/clean_tombstones", {}),
        ("POST", f"{admin}/snapshot", {}),
    ]


def test_targets_have_health_and_labels() -> None:
    found = {"scrapePool": "dcgm", "health": "down", "labels": {"job": "dcgm"}, "lastError": "refused"}
    with (
        serving(lambda *_: (200, {"status": "success", "data": {"activeTargets": [found]}})) as fake,
        _client(fake) as prometheus,
    ):
        assert prometheus.targets() == [Target("dcgm", "down", {"job": "dcgm"}, "refused")]


@pytest.mark.parametrize(
    ("status", "body", "kind", "text"),
    [
        (403, b"", ClusterError, r"refuses the request \(403\).*cluster-monitoring-view"),
        (502, b"<html>", ClusterError, r"502\) is not from Prometheus"),
        (200, b"[]", ClusterError, r"200\) is not from Prometheus"),
        (200, {"status": "success", "data": {}}, ClusterError, "KeyError when parsing it"),
        (400, {"status": "error", "errorType": "bad_data", "error": "1:2: parse error"}, RefusedError, "parse error"),
    ],
)
def test_failures_are_one_sentence(status: int, body: Any, kind: type[Exception], text: str) -> None:
    with (
        serving(lambda *_: (status, body)) as fake,
        _client(fake) as prometheus,
        pytest.raises(kind, match=text),
    ):
        prometheus.query("up")


def test_refused_connection_is_one_sentence() -> None:
    with serving(lambda *_: success([])) as fake:
        pass
    with pytest.raises(ClusterError, match=r"cannot reach Prometheus at http://127.0.0.1:\d+ \(for a test\): "):
        _client(fake).query("up")
