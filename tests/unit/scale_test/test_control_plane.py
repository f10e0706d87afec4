"""The control plane's metrics: the samples of a page, the components to scrape, and failures."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import jsonschema
import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import descendants
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.pages import PageError, PageReader
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import (
    MetricsPlan,
    MetricsSettings,
    lab_endpoints,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.selection import (
    COUNTER,
    GAUGE,
    HISTOGRAM,
    SELECTION,
    Metric,
)

from tests.schemas import schema_of

from .fake_api import FakeApi, fake_api
from .sessions import JOBS, Scene, eventually

pytestmark = pytest.mark.slow

METRICS = (
    Metric("requests_total", COUNTER, ("code",), without={"verb": frozenset({"WATCH"})}),
    Metric("depth", GAUGE, ("name",), only={"name": frozenset({"job", "pod"})}),
    Metric("latency_seconds", HISTOGRAM, ("verb",)),
)
PAGE = r"""# HELP requests_total Requests, by code
# TYPE requests_total counter
requests_total{code="200",verb="GET"} 3
requests_total{code="200",verb="POST"} 4 1700000000000
requests_total{code="200",verb="WATCH"} 100
requests_total{code="409",verb="POST"} 0
requests_total_of_another{code="200"} 1
depth{name="job"} 0
depth{name="other"} 7
latency_seconds_bucket{verb="GET",resource="pods",le="0.1"} 1
latency_seconds_bucket{verb="GET",resource="jobs",le="0.1"} 2
latency_seconds_bucket{verb="GET",resource="jobs",le="+Inf"} 5
latency_seconds_sum{verb="GET",resource="jobs"} 1.5e-1
latency_seconds_count{verb="GET",resource="jobs"} 5
unselected{ this is no label } and no value
"""


def read(page: str) -> list[tuple[str, dict[str, str], float]]:
    return [(sample.metric, dict(sample.labels), sample.value) for sample in PageReader(METRICS).read(page.encode())]


def test_selected_samples_are_summed_over_dropped_labels() -> None:
    assert read(PAGE) == [
        ("requests_total", {"code": "200"}, 7),
        ("depth", {"name": "job"}, 0),
        ("latency_seconds_bucket", {"verb": "GET", "le": "0.1"}, 3),
        ("latency_seconds_bucket", {"verb": "GET", "le": "+Inf"}, 5),
        ("latency_seconds_sum", {"verb": "GET"}, 0.15),
        ("latency_seconds_count", {"verb": "GET"}, 5),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [(r"a\"b", 'a"b'), (r"a\\b", r"a\b"), (r"a\nb", "a\nb"), ("a}b,c=d", "a}b,c=d"), ("", "")],
)
def test_label_may_contain_any_text(text: str, value: str) -> None:
    assert read(f'requests_total{{code="{text}"}} 1\n') == [("requests_total", {"code": value}, 1)]


@pytest.mark.parametrize(
    "line",
    [
        'requests_total{code="200"}',
        "requests_total",
        "requests_total one",
        "requests_total 1 2 3",
        "requests_total{code=200} 1",
        'requests_total{code="200} 1',
    ],
)
def test_unreadable_selected_line_is_reported(line: str) -> None:
    with pytest.raises(PageError, match="requests_total"):
        read(f"# a comment\n{line}\n" if " " in line or "{" in line else f"{line} \n")


def test_non_finite_value_is_no_sample() -> None:
    assert read('depth{name="job"} NaN\nrequests_total{code="1"} +Inf\n') == []


def test_lab_settings_apply_to_this_machine_only() -> None:
    urls = {"etcd": "http://127.0.0.1:1/metrics", "kube-scheduler": "https://scheduler.example/metrics"}
    assert lab_endpoints(json.dumps(urls)) == {"etcd": urls["etcd"]}
    assert lab_endpoints(None) == lab_endpoints("[]") == lab_endpoints("no JSON") == {}


def test_settings_win_and_credentials_are_not_sent_by_http() -> None:
    lab = {"etcd": "http://127.0.0.1:1/metrics", "kube-scheduler": "https://127.0.0.1:2/metrics"}
    given = {"etcd": "http://127.0.0.1:3/other?a=b"}
    plan = MetricsSettings(5.0, given).plan(lab)
    assert plan is not None
    api = ApiEndpoint("https://api.example:6443", token="t", proxy="http://proxy.example", server_name="api")
    asked = {
        target.component: (target.endpoint.server, target.endpoint.token, target.path) for target in plan.targets(api)
    }
    assert asked == {
        "kube-apiserver": ("https://api.example:6443", "t", "/metrics"),
        "kube-scheduler": ("https://127.0.0.1:2", "t", "/metrics"),
        "etcd": ("http://127.0.0.1:3", None, "/other?a=b"),
    }
    assert plan.unknown() == ["kube-controller-manager"]
    assert MetricsSettings(0.0, given).plan(lab) is None


@pytest.mark.parametrize(
    ("interval_s", "endpoints", "message"),
    [
        (-1.0, {}, "cannot be negative"),
        (1.0, {"scheduler": "http://a"}, "unknown component 'scheduler' .*: kube-scheduler"),
        (1.0, {"kube-apiserver": "http://a"}, "unknown component"),
        (1.0, {"etcd": "127.0.0.1:1"}, "is not an http"),
    ],
)
def test_invalid_settings_are_refused(interval_s: float, endpoints: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        MetricsSettings(interval_s, endpoints)


def test_every_selected_family_is_listed_once() -> None:
    for metrics in SELECTION.values():
        names = [sample for metric in metrics for sample in metric.samples]
        assert len(names) == len(set(names))


def scraped_scene(tmp_path: Path, interval_s: float, pages: dict[str, str], endpoints: dict[str, str]) -> Scene:
    """Run a session of three seconds, with these pages and their paths by component."""

    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 2)
        await asyncio.sleep(1.0)
        for name in list(api.objects[JOBS]):
            await api.complete(JOBS, name)

    scene = Scene(tmp_path, count=2, meanwhile=meanwhile)

    async def played() -> None:
        async with fake_api() as api:
            api.pages_of_metrics = pages
            urls = {component: api.server + path for component, path in endpoints.items()}
            scene.metrics = MetricsPlan(interval_s, urls)
            assert (await scene.run(api)).accounting.completed == 2

    asyncio.run(played())
    return scene


def test_control_plane_is_scraped_before_during_and_after(tmp_path: Path) -> None:
    pages = {
        "/metrics": 'apiserver_request_total{code="201",verb="POST"} 5\n',
        "/etcd": "process_cpu_seconds_total 1.5\n",
    }
    scene = scraped_scene(tmp_path, 0.3, pages, {"etcd": "/etcd", "kube-scheduler": "/nothing"})
    rows = scene.rows("control_plane")
    for row in rows:
        jsonschema.validate(row, schema_of("control_plane_sample"))
    first = {key: value for key, value in rows[0].items() if key != "at_s"}
    labels = {"verb": "POST", "code": "201"}
    name = "apiserver_request_total"
    sample = {"phase": "before", "component": "kube-apiserver", "metric": name, "labels": labels, "value": 5}
    assert first in (
        sample,
        sample | {"component": "etcd", "metric": "process_cpu_seconds_total", "labels": {}, "value": 1.5},
    )
    document = scene.document("control_plane")
    jsonschema.validate(document, schema_of("control_plane"))
    assert document["error"] is None
    for component in ("kube-apiserver", "etcd"):
        phases = [row["phase"] for row in document["scrapes"] if row["component"] == component]
        assert phases[0] == "before" and phases[-1] == "after"
        assert set(phases[1:-1]) == {"during"} and len(phases) >= 4
    errors = {row["component"]: row["error"] for row in document["scrapes"]}
    assert (errors["kube-apiserver"], errors["etcd"]) == (None, None)
    assert "404" in errors["kube-scheduler"]
    assert "no endpoint; set" in errors["kube-controller-manager"]
    recording = scene.document("recording")
    before = [row["at_s"] for row in rows if row["phase"] == "before"]
    assert max(before) < recording["synced_s"]
    assert min(row["sent_s"] for row in scene.rows("submissions")) > max(before)


def test_unreadable_page_is_recorded_and_no_error(tmp_path: Path) -> None:
    scene = scraped_scene(tmp_path, 10.0, {"/metrics": "apiserver_request_total{ 5\n"}, {})
    errors = [
        row["error"] for row in scene.document("control_plane")["scrapes"] if row["component"] == "kube-apiserver"
    ]
    assert len(errors) == 3
    assert all("apiserver_request_total" in error for error in errors)
    assert scene.rows("control_plane") == []


def test_dying_scraper_is_recorded_and_no_error(tmp_path: Path) -> None:
    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 2)
        for pid in descendants(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        for name in list(api.objects[JOBS]):
            await api.complete(JOBS, name)

    scene = Scene(tmp_path, count=2, meanwhile=meanwhile, metrics=MetricsPlan(10.0, {}))
    assert scene.play().accounting.completed == 2
    assert "ended" in scene.document("control_plane")["error"]
    assert scene.document("recording")["ended_by"] == "condition"


def test_stopped_run_leaves_no_scraper(tmp_path: Path) -> None:
    async def stop(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 2)
        scene.stop.set()

    scene = Scene(tmp_path, count=2, meanwhile=stop, metrics=MetricsPlan(0.1, {}))
    assert scene.play().ended_by == "stop"
    assert descendants(os.getpid()) == []
    assert {row["phase"] for row in scene.document("control_plane")["scrapes"]} <= {"before", "during"}
