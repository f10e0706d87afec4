"""Connecting to a cluster: invalid kubeconfigs are reported in one sentence."""

from __future__ import annotations

import json
import socket
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api import kinds_by_version
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import ShortTokenError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access, configured
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import lab_kubeconfig

from tests.standins.http_servers import Quiet, served

_KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: x
contexts: [{{name: x, context: {{cluster: x, user: x}}}}]
clusters: [{{name: x, cluster: {{server: "{server}"}}}}]
users: [{{name: x, user: {{token: none}}}}]
"""


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("just a text", "must be a mapping, not a text"),
        ("[1, 2]", "must be a mapping, not a list"),
        ("", "must be a mapping, not nothing"),
        ("clusters: 4", "is damaged: clusters is not a list of mappings"),
        ("users: [me]", "is damaged: users is not a list of mappings"),
        (
            "{contexts: [{name: x, context: y}], current-context: x}",
            "is damaged: its context 'x' holds a text instead of",
        ),
        ("a: [", r"is not YAML \(line 1\)"),
    ],
)
def test_damaged_kubeconfig_is_named_with_its_damage(content: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(content, encoding="utf-8")
    sentence = rf"the kubeconfig {path} {why}.*; correct it, or set KUBECONFIG, or perf_kubeconfig"
    with pytest.raises(ClusterError, match=sentence), configured(Access(kubeconfig=str(path))):
        pass


def test_folder_as_kubeconfig_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(ClusterError, match="cannot be read: Is a directory"),
        configured(Access(kubeconfig=str(tmp_path))),
    ):
        pass


def test_missing_lab_is_named_with_existing_labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERFLAB_HOME", str(tmp_path))
    missing = Access(str(lab_kubeconfig("default")))
    with pytest.raises(ClusterError, match=r"start the lab with: perflab up --name default$"):
        missing.endpoint()
    for name in ("ada", "bob"):
        lab_kubeconfig(name).parent.mkdir()
        lab_kubeconfig(name).touch()
    with pytest.raises(ClusterError, match=r"use a lab that exists: set PERF_LAB=ada or PERF_LAB=bob$"):
        missing.endpoint()
    with pytest.raises(ClusterError, match="does not exist; correct the path: set KUBECONFIG, or perf_kubeconfig"):
        Access(str(tmp_path / "elsewhere" / "config")).endpoint()


class _Anonymous(Quiet, BaseHTTPRequestHandler):
    """Refuses requests without credentials, like an API server."""

    def do_GET(self) -> None:
        body = b'{"message": "nodes is forbidden: User \\"system:anonymous\\" cannot list resource"}'
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_anonymous_refusal_names_the_missing_credentials(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    with served(_Anonymous) as server:
        path.write_text(_KUBECONFIG.format(server=server), encoding="utf-8")
        cluster = Cluster(Access(kubeconfig=str(path)))
        with pytest.raises(ClusterError, match=rf"403: .*; the kubeconfig {path} has no credentials for its user"):
            cluster.serves("v1", "Node")
        cluster.close()


def test_connection_without_a_response_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds_by_version, "_REQUEST_TIMEOUT_S", (0.1, 0.1))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"http://127.0.0.1:{silent.getsockname()[1]}"
        path = tmp_path / "kubeconfig"
        path.write_text(_KUBECONFIG.format(server=server), encoding="utf-8")
        with pytest.raises(ClusterError, match=f"cannot reach the cluster at {server} while finding Node"):
            Cluster(Access(kubeconfig=str(path))).serves("v1", "Node")


def test_kind_without_watch_is_not_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(_KUBECONFIG.format(server="http://127.0.0.1:1"), encoding="utf-8")
    cluster = Cluster(Access(kubeconfig=str(path)))
    # the verbs of PackageManifests in discovery
    monkeypatch.setattr(cluster, "_resource", lambda *_: SimpleNamespace(verbs=["get", "list"]))
    assert list(cluster.watch(Query("packages.operators.coreos.com/v1", "PackageManifest"), "1", 60)) == []


class _ShortTokens(Quiet, BaseHTTPRequestHandler):
    """Grants tokens for an hour, like an API server with a limit."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        spec = {"audiences": [], "expirationSeconds": 3600}
        status = {"token": "t", "expirationTimestamp": "2026-11-29T15:00:00Z"}
        body = json.dumps({"kind": "TokenRequest", "spec": spec, "status": status}).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_token_that_expires_earlier_than_requested_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    with served(_ShortTokens) as server:
        path.write_text(_KUBECONFIG.format(server=server), encoding="utf-8")
        cluster = Cluster(Access(kubeconfig=str(path)))
        assert cluster.service_account_token("ci", "local-ci-0", 3600) == "t"
        with pytest.raises(ShortTokenError, match="tokens of service accounts to 3600 s, but 3601 s are needed"):
            cluster.service_account_token("ci", "local-ci-0", 3601)
        cluster.close()
