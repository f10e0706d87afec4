"""The number of attempts of requests to a scripted server."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted
from ansible_collections.psap.perf.plugins.module_utils.kube_api import outage
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.outage import Outage
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.standins.http_servers import Quiet, served

Request = Callable[[Cluster], Any]


class _Busy(Quiet, BaseHTTPRequestHandler):
    """Answers 429 with Retry-After some times, then with the version."""

    refusals = 0

    def do_GET(self) -> None:
        refused = type(self).refusals > 0
        type(self).refusals -= 1
        body = json.dumps({"message": "storage is (re)initializing"} if refused else _VERSION).encode()
        self.send_response(429 if refused else 200)
        if refused:
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


_FIELDS = ("major", "minor", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform")
_VERSION = {**dict.fromkeys(_FIELDS, "1"), "gitVersion": "v1.36.3"}


@pytest.fixture(name="cluster")
def _cluster(tmp_path: Path) -> Iterator[Cluster]:
    with served(_Busy) as address:
        cluster = Cluster(Access(kubeconfig=str(_kubeconfig(tmp_path, address))))
        yield cluster
        cluster.close()


def _kubeconfig(folder: Path, address: str) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "x", "cluster": {"server": address}}],
        "users": [{"name": "x", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return path


def test_retry_after_header_is_respected(cluster: Cluster) -> None:
    _Busy.refusals = 5
    assert cluster.version() == "v1.36.3"


def test_retry_after_header_has_a_limit(cluster: Cluster) -> None:
    _Busy.refusals = 1000
    with pytest.raises(ClusterError, match="429"):
        cluster.version()


class _Scripted(Quiet, BaseHTTPRequestHandler):
    """Gives the answers of a script, one for each request except discovery; then the object."""

    script: ClassVar[list[int]] = []
    requests: ClassVar[list[str]] = []

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = "?" not in self.path and self.path.endswith("/v1")
        status = 200 if asked or not self.script else self.script.pop(0)
        if not asked:
            self.requests.append(self.command)
        entry = {"kind": "ConfigMap", "name": "configmaps", "namespaced": True, "verbs": ["get"]}
        document = {"resources": [entry]} if asked else _CONFIG_MAP if status == 200 else {"message": "because"}
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815


_CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "namespace": "here"}}
_QUERY = Query("v1", "ConfigMap", "here", "one")
_READ: Request = lambda cluster: cluster.get(_QUERY)  # noqa: E731
_APPLY: Request = lambda cluster: cluster.apply(_CONFIG_MAP)  # noqa: E731
_DELETE: Request = lambda cluster: cluster.delete(_QUERY)  # noqa: E731
_CREATE: Request = lambda cluster: cluster.create(_CONFIG_MAP)  # noqa: E731


@pytest.fixture(name="patient")
def _patient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setattr(outage, "_PAUSE_S", 0.01)
    _Scripted.script, _Scripted.requests = [], []
    with served(_Scripted) as address:
        cluster = Cluster(Access(kubeconfig=str(_kubeconfig(tmp_path, address))), Outage(60.0))
        yield cluster
        cluster.close()


@pytest.mark.parametrize("request_", [_READ, _APPLY, _DELETE], ids=["read", "apply", "delete"])
@pytest.mark.parametrize("status", [502, 503, 504])
def test_idempotent_requests_are_retried(patient: Cluster, request_: Request, status: int) -> None:
    _Scripted.script = [status] * 3
    assert request_(patient)
    assert len(_Scripted.requests) == 4
    assert patient.outage.answered


@pytest.mark.parametrize("status", [502, 503, 504])
def test_creation_is_not_retried_if_it_may_have_succeeded(patient: Cluster, status: int) -> None:
    _Scripted.script = [status]
    with pytest.raises(ClusterError, match=str(status)):
        _CREATE(patient)
    assert _Scripted.requests == ["POST"]


@pytest.mark.parametrize("request_", [_READ, _APPLY, _DELETE, _CREATE], ids=["read", "apply", "delete", "create"])
@pytest.mark.parametrize("status", [400, 401, 403, 409, 422, 500])
def test_refused_request_is_not_retried(patient: Cluster, request_: Request, status: int) -> None:
    _Scripted.script = [status]
    with pytest.raises(ClusterError, match=f"{status}: because"):
        request_(patient)
    assert len(_Scripted.requests) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_unauthorized_response_after_a_restart_is_retried(patient: Cluster, status: int) -> None:
    _Scripted.script = [503, status, status]
    assert _READ(patient) == _CONFIG_MAP


@pytest.mark.parametrize("request_", [_READ, _CREATE], ids=["read", "create"])
def test_unsent_request_is_retried_when_the_server_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request_: Request
) -> None:
    _Scripted.script, _Scripted.requests = [], []
    with contextlib.ExitStack() as stack:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        cluster = Cluster(Access(kubeconfig=str(_kubeconfig(tmp_path, f"http://127.0.0.1:{port}"))), Outage(60.0))
        stack.callback(cluster.close)

        def start(_pause_s: float) -> None:
            monkeypatch.undo()
            stack.enter_context(served(_Scripted, port=port))

        monkeypatch.setattr(time, "sleep", start)
        assert request_(cluster)
    assert len(_Scripted.requests) == 1


def test_lasting_outage_is_given_up_then_tried_once_per_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(outage, "_PAUSE_S", 1.0)
    monkeypatch.setattr(outage, "time", SimpleNamespace(monotonic=lambda: sum(waited), sleep=waited.append))
    with socket.create_server(("127.0.0.1", 0)) as free:
        server = f"http://127.0.0.1:{free.getsockname()[1]}"
    cluster = Cluster(Access(kubeconfig=str(_kubeconfig(tmp_path, server))), Outage(5.0))
    for _request in range(3):
        with pytest.raises(ClusterError, match="cannot reach the cluster"):
            _READ(cluster)
    assert sum(waited) == 5.0
    assert cluster.outage.answered is False


def test_stop_request_is_honoured_during_an_outage(patient: Cluster) -> None:
    def stop() -> None:
        raise Interrupted("stop")

    patient.outage = Outage(60.0, stop)
    _Scripted.script = [503]
    with pytest.raises(Interrupted):
        _READ(patient)
