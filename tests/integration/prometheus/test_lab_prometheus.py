"""The real Prometheus of a lab: queried in parts, emptied, saved, and opened again from the saved data."""

from __future__ import annotations

import json
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Prometheus, RefusedError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.dumping import dump_snapshot
from ansible_collections.psap.perf.plugins.module_utils.prometheus.location import PrometheusOptions, find
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import read_files
from ansible_collections.psap.perf.plugins.module_utils.prometheus.querying import (
    await_scrape,
    run_queries,
    targets_of,
)
from ansible_collections.psap.perf.plugins.module_utils.prometheus.windows import Window
from perfanalysis.files.discovery import Place
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.prometheus_ranges import parse, ranges_of

from tests.integration.conftest import PROJECT, Lab
from tests.schemas import check_file

SHIPPED = PROJECT / "collections/ansible_collections/psap/perf/roles/cluster_query_prometheus_db/files"
JOBS = {"apiserver", "etcd", "kube-controller-manager", "scheduler"}


def _never() -> None:
    return None


@pytest.fixture(name="prometheus")
def _prometheus(openshift_lab: Lab) -> Iterator[Prometheus]:
    cluster = Cluster(Access(kubeconfig=str(openshift_lab.kubeconfig)))
    address = find(lambda: cluster, PrometheusOptions())
    cluster.close()
    with Prometheus(address) as prometheus:
        assert await_scrape(prometheus, time.time(), 60.0, _never)
        yield prometheus


def test_parts_of_a_range_equal_the_complete_range(prometheus: Prometheus) -> None:
    now = float(int(time.time()))
    # a scrape that began before this moment may be stored after it
    assert await_scrape(prometheus, now, 60.0, _never)
    window = Window(now - 20, now)
    at_once = prometheus.query_range("up", window, 1.0)
    in_parts = prometheus.query_range("up", window, 1.0, most_points=4)
    by_labels = {tuple(sorted(one.labels.items())): one.samples for one in at_once.series}
    assert {tuple(sorted(one.labels.items())): one.samples for one in in_parts.series} == by_labels
    assert {one.labels["job"] for one in at_once.series} >= JOBS


@pytest.mark.deep
def test_more_points_than_one_response_allows_are_returned(prometheus: Prometheus) -> None:
    now = float(int(time.time()))
    answer = prometheus.query_range("vector(1)", Window(now - 30_000, now), 1.0)
    assert answer.samples == 30_001


def test_scraped_samples_have_their_times(prometheus: Prometheus) -> None:
    answer = prometheus.raw('up{job="etcd"}', Window(time.time() - 30, time.time()))
    times = [at for at, _value in answer.series[0].samples]
    found = prometheus.query_range('timestamp(up{job="etcd"})', Window(times[0], times[-1] + 1), 1.0)
    assert sorted({round(at, 3) for at in found.series[0].numbers}) == [round(at, 3) for at in times]


def test_every_shipped_query_is_valid_and_read_by_the_analysis(prometheus: Prometheus, tmp_path: Path) -> None:
    window = Window(time.time() - 10, time.time())
    queries = read_files(sorted(SHIPPED.glob("*.txt")), ".*")
    outcome = run_queries(prometheus, queries, window, 0, tmp_path, _never)
    assert outcome.failed == {}
    check_file(tmp_path / "prometheus_queries.yml")
    place = Place(tmp_path, "x", "prometheus_queries.yml", None)
    source = RecordingFiles(place)
    ranges = ranges_of(place, parse(source))
    assert source.findings == ()
    assert len(ranges.samples) == outcome.samples
    found = set(ranges.samples["query"].astype("str"))
    assert {"apiserver_requests_in_flight", "control_plane_memory_used_bytes", "etcd_database_size_bytes"} <= found


def test_invalid_query_is_refused_in_prometheus_words(prometheus: Prometheus) -> None:
    with pytest.raises(RefusedError, match=r"parse error.*\(bad_data\)"):
        prometheus.query("sum((")


def test_emptied_prometheus_forgets_and_continues(prometheus: Prometheus) -> None:
    began = time.time()
    targets = targets_of(prometheus)
    prometheus.delete_series()
    prometheus.clean_tombstones()
    assert await_scrape(prometheus, time.time(), 60.0, _never, targets)
    samples = prometheus.raw("up", Window(began - 600, time.time())).series
    assert len(samples) == targets
    assert {one.labels["job"] for one in samples} >= JOBS
    assert min(at for one in samples for at, _value in one.samples) >= began - 2


def test_snapshot_has_the_scraped_data_and_is_removed(prometheus: Prometheus, tmp_path: Path) -> None:
    archive = tmp_path / "prometheus.tar.gz"
    contents = dump_snapshot(prometheus, archive)
    assert contents.blocks >= 1
    with tarfile.open(archive) as packed:
        metas = [name for name in packed.getnames() if name.endswith("/meta.json")]
        found = [json.load(file) for name in metas if (file := packed.extractfile(name)) is not None]
    assert all(one["stats"]["numSamples"] > 0 for one in found)
    assert prometheus.address.data is not None
    assert list((prometheus.address.data / "snapshots").iterdir()) == []
