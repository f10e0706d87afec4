"""Profiles of the API server and of pods, fetched from a local server in place of a cluster."""

from __future__ import annotations

import http.server
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, DataQualityError, Interrupted
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import Forwarded
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab
from ansible_collections.psap.perf.plugins.module_utils.profiling.components import ProfileTarget, selections
from ansible_collections.psap.perf.plugins.module_utils.profiling.fetching import (
    ProfileFetcher,
    fetch_all,
    profile_document,
    targets_of,
)
from ansible_collections.psap.perf.plugins.module_utils.profiling.results import check_profiles, write_profiles

from tests.polling import PATIENCE_S
from tests.programs import PROJECT
from tests.schemas import check_file
from tests.standins.http_servers import Quiet, served

GZIP = b"\x1f\x8b the rest"
POD = ProfileTarget("kueue", "heap", "kueue-system", "manager", 8083, secured=False)
API = ProfileTarget("apiserver", "cpu")


class Pprof(Quiet, http.server.BaseHTTPRequestHandler):
    """Answers with a profile, except for the goroutines."""

    def do_GET(self) -> None:
        """Return bytes that begin like gzip."""
        if self.path.startswith("/debug/pprof/goroutine"):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(GZIP)))
        self.end_headers()
        self.wfile.write(GZIP)


class Cluster:
    """A cluster with pods of the scheduler, on OpenShift, of which one is not running."""

    def __init__(self, status: int = 200, body: bytes = GZIP) -> None:
        self.asked: list[tuple[str, float]] = []
        self._answer = status, body

    def list(self, query: Query) -> tuple[list[dict[str, Any]], str]:
        """Return the pods of a namespace."""
        if query.namespace != "openshift-kube-scheduler":
            return [], "1"
        phases = {"one": "Running", "two": "Pending"}
        return [{"metadata": {"name": name}, "status": {"phase": phase}} for name, phase in phases.items()], "1"

    def raw(self, path: str, timeout_s: float) -> tuple[int, bytes]:
        """Return the answer to a path."""
        self.asked.append((path, timeout_s))
        return self._answer


def _identity() -> tuple[ssl.SSLContext, Mapping[str, str]]:
    context = ssl.create_default_context()
    context.check_hostname = False
    return context, {}


@contextmanager
def fetching(server: Cluster) -> Iterator[ProfileFetcher]:
    """Yield a fetcher whose pods are a local server."""
    with served(Pprof) as url:

        @contextmanager
        def connect(_namespace: str, pod: str, _port: int) -> Iterator[Forwarded]:
            if pod == "forbidden":
                raise ClusterError("forbidden: pods/portforward")
            parts = urlsplit(url)
            with socket.create_connection((parts.hostname or "", parts.port or 0)) as connection:
                yield Forwarded(connection, lambda: "")

        yield ProfileFetcher(server, connect, _identity, 2.0, 10.0)


def test_targets_are_running_pods_and_missing_components_are_named() -> None:
    wanted = ("apiserver", "scheduler", "kueue", "scheduler")
    targets, missing = targets_of(Cluster(), wanted, ("cpu", "heap"), selections(8083))
    assert [each.file for each in targets] == [
        "apiserver_cpu.pb.gz",
        "apiserver_heap.pb.gz",
        "scheduler_one_cpu.pb.gz",
        "scheduler_one_heap.pb.gz",
    ]
    assert {each.port for each in targets if each.pod} == {10259}
    assert missing == ["kueue"]


def test_only_a_cpu_profile_lasts() -> None:
    server = Cluster()
    with fetching(server) as fetcher:
        found = fetch_all(fetcher, [API, ProfileTarget("apiserver", "heap")], lambda: None)
    assert sorted(server.asked) == [("/debug/pprof/heap", 10.0), ("/debug/pprof/profile?seconds=2", 12.0)]
    assert [each.content for each in found] == [GZIP, GZIP]


def test_pod_is_asked_through_the_forwarded_port() -> None:
    with fetching(Cluster()) as fetcher:
        fetched = fetcher.fetch(POD)
    document = profile_document(fetched)
    assert document["file"] == "profiles/kueue_manager_heap.pb.gz"
    assert document["bytes"] == len(GZIP)
    assert document["begin_s"] <= document["end_s"]


@pytest.mark.parametrize(
    ("target", "status", "body", "error"),
    [
        (API, 403, b"", "responds with 403: the user needs the verb get for the URL /debug/pprof/*"),
        (API, 404, b"", "responds with 404: profiling is disabled there"),
        (API, 500, b"sorry\n", "responds with 500: sorry"),
        (API, 200, b"<html>", "the response is not a profile"),
        (ProfileTarget("kueue", "goroutine", "n", "p", 1, secured=False), 200, b"", "profiling is disabled there"),
        (ProfileTarget("kueue", "heap", "n", "forbidden", 1, secured=False), 200, b"", "forbidden: pods/portforward"),
        (ProfileTarget("kueue", "heap", "n", "p", 1), 200, b"", "SSL"),
    ],
)
def test_missing_profile_has_the_reason(target: ProfileTarget, status: int, body: bytes, error: str) -> None:
    with fetching(Cluster(status, body)) as fetcher:
        document = profile_document(fetcher.fetch(target))
    assert error in document["error"]
    assert "file" not in document


def test_missing_profiles_and_components_are_named(tmp_path: Path) -> None:
    with fetching(Cluster(404, b"")) as fetcher:
        fetched = fetch_all(fetcher, [API, POD], lambda: None)
    document = write_profiles(tmp_path, fetched, ["scheduler"], Lab("lab", real=("control plane",)))
    check_file(tmp_path / "profiles.json")
    assert (tmp_path / "profiles" / "kueue_manager_heap.pb.gz").read_bytes() == GZIP
    with pytest.raises(DataQualityError) as error:
        check_profiles(document)
    assert str(error.value) == (
        "missing profiles: cpu profile of apiserver: responds with 404: profiling is disabled there; "
        "scheduler: no running pod found"
    )


def test_complete_profiles_are_no_error(tmp_path: Path) -> None:
    with fetching(Cluster()) as fetcher:
        check_profiles(write_profiles(tmp_path, fetch_all(fetcher, [API], lambda: None), [], None))


@pytest.mark.slow
def test_detached_work_outlives_the_task_and_keeps_no_pipe(tmp_path: Path) -> None:
    code = f"""
import time
from pathlib import Path
from ansible_collections.psap.perf.plugins.module_utils.profiling.background import detach
detach(lambda: (time.sleep(1), Path({str(tmp_path / "done")!r}).write_text("done")))
print("returned")
"""
    began = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "collections")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "returned\n"
    assert not (tmp_path / "done").exists()
    while not (tmp_path / "done").exists():
        assert time.monotonic() - began < PATIENCE_S
        time.sleep(0.05)


def test_stop_request_ends_the_wait() -> None:
    def check() -> None:
        raise Interrupted("stop")

    with fetching(Cluster()) as fetcher, pytest.raises(Interrupted):
        fetch_all(fetcher, [API], check)
