"""Certificates of a kubeconfig: they are used, and do not remain on disk."""

from __future__ import annotations

import base64
import json
import os
import ssl
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access, configured
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import load_endpoint
from perflab.control_plane import certificates
from perflab.control_plane.certificates import Authority, Pair

from tests.standins.http_servers import Quiet

_KINDS = {"resources": [{"kind": "Node", "name": "nodes", "namespaced": False, "verbs": ["get"]}]}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors of clients without a certificate, which the tests cause."""


class _Kinds(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(_KINDS).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing to the tests' output."""


@contextmanager
def _api_server(
    authority: Authority, handler: type[BaseHTTPRequestHandler] = _Kinds, *, wanted: bool = True
) -> Iterator[str]:
    """A server with a certificate of *authority*, which refuses clients without one if it is *wanted*."""
    pair = authority.issue_server("server", [])
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority.pair.certificate))
    context.load_cert_chain(pair.certificate, pair.key)
    context.verify_mode = ssl.CERT_REQUIRED if wanted else ssl.CERT_NONE
    server = _Server(("127.0.0.1", 0), handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _inline(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def _access(folder: Path, cluster: dict[str, Any], client: Pair) -> Access:
    path = folder / "kubeconfig"
    user = {"client-certificate-data": _inline(client.certificate), "client-key-data": _inline(client.key)}
    entries = {
        "clusters": [{"name": "x", "cluster": cluster}],
        "users": [{"name": "x", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
    }
    path.write_text(yaml.safe_dump({"current-context": "x", **entries}), encoding="utf-8")
    return Access(kubeconfig=str(path))


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
@pytest.mark.parametrize("verified", [True, False], ids=["verified", "unverified"])
def test_connection_leaves_no_certificate_or_key(verified: bool, tmp_path: Path, scratch: Path) -> None:
    authority = Authority(tmp_path / "authority")
    trust = {"certificate-authority-data": _inline(authority.pair.certificate)}
    with _api_server(authority) as url:
        chosen = trust if verified else {"insecure-skip-tls-verify": True}
        access = _access(tmp_path, {"server": url, **chosen}, authority.issue_client("user", "somebody"))
        # a second connection in the same process, for which the client has cached names
        for cluster in (Cluster(access), Cluster(access)):
            assert list(scratch.iterdir()) == []
            assert cluster.serves("v1", "Node")
            cluster.close()
    assert list(scratch.iterdir()) == []


def test_server_of_another_authority_is_not_trusted(tmp_path: Path, scratch: Path) -> None:
    authority, other = Authority(tmp_path / "authority"), Authority(tmp_path / "other")
    with _api_server(authority) as url:
        trust = {"certificate-authority-data": _inline(other.pair.certificate)}
        cluster = Cluster(_access(tmp_path, {"server": url, **trust}, authority.issue_client("user", "somebody")))
        # two authorities of one name, with different key identifiers
        with pytest.raises(
            ClusterError, match=r"cannot reach the cluster at https://.*: self-signed certificate in certificate chain"
        ):
            cluster.serves("v1", "Node")
        cluster.close()
    assert list(scratch.iterdir()) == []


def test_invalid_certificates_are_reported_as_unusable(tmp_path: Path, scratch: Path) -> None:
    authority = Authority(tmp_path / "authority")
    client = authority.issue_client("user", "somebody")
    access = _access(tmp_path, {"server": "https://127.0.0.1:1"}, Pair(client.key, client.certificate))
    with pytest.raises(ClusterError, match=r"the certificates for https://127.0.0.1:1 cannot be used: .*; renew"):
        Cluster(access)
    assert list(scratch.iterdir()) == []


class _Unknown(Quiet, BaseHTTPRequestHandler):
    """Refuses all credentials without a reason, like an API server."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.mark.parametrize("days", [-1, 1], ids=["expired", "good"])
def test_expired_client_certificate_explains_a_401(days: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority(tmp_path / "authority")
    until = datetime.now(UTC) + timedelta(days=days)
    with _api_server(authority, _Unknown, wanted=False) as server:
        monkeypatch.setattr(certificates, "_TOLERANCE", timedelta(days=2))
        monkeypatch.setattr(certificates, "_VALID", timedelta(days=days))
        trust = {"certificate-authority-data": _inline(authority.pair.certificate)}
        cluster = Cluster(_access(tmp_path, {"server": server, **trust}, authority.issue_client("user", "me")))
        with pytest.raises(ClusterError, match=r"does not accept the credentials of the kubeconfig .*401") as caught:
            cluster.serves("v1", "Node")
        cluster.close()
    text = f"; the client certificate expired on {until:%Y-%m-%d} at "
    assert (text in str(caught.value)) == (days < 0)


@pytest.mark.parametrize("server", ["https://me:hush@127.0.0.1:1/path", "https://hush@127.0.0.1:1/path"])
def test_address_with_a_password_is_refused_without_showing_it(server: str, tmp_path: Path) -> None:
    access = _access(tmp_path, {"server": server}, Authority(tmp_path / "authority").issue_client("user", "me"))
    for read in (lambda: Cluster(access), lambda: load_endpoint(access.kubeconfig)):
        with pytest.raises(ClusterError, match=r"at https://127.0.0.1:1/path has a user name or a password") as caught:
            read()
        assert "hush" not in str(caught.value)


def test_missing_temporary_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    access = _access(
        tmp_path, {"server": "https://127.0.0.1:1"}, Authority(tmp_path / "authority").issue_client("u", "me")
    )
    with pytest.raises(ClusterError, match=r"certificates temporarily: .*; set TMPDIR"), configured(access):
        pass


def test_several_kubeconfigs_are_merged_and_missing_ones_skipped(tmp_path: Path, scratch: Path) -> None:
    (tmp_path / "a").write_text("{contexts: [{name: x, context: {cluster: x, user: x}}], current-context: x}")
    (tmp_path / "c").write_text(
        "{clusters: [{name: x, cluster: {server: 'https://127.0.0.1:1'}}], users: [{name: x, user: {token: t}}]}"
    )
    listed = os.pathsep.join(str(tmp_path / name) for name in ("a", "b", "c"))
    with configured(Access(kubeconfig=listed)) as configuration:
        assert configuration.host == "https://127.0.0.1:1"
    with pytest.raises(ClusterError, match="does not exist"):
        Access(kubeconfig=str(tmp_path / "b")).endpoint()


def test_two_clusters_named_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8S_AUTH_HOST", "https://one.test")
    with pytest.raises(UsageError, match=r"other and K8S_AUTH_HOST .* both name a cluster"):
        Access.from_variables({"perf_kubeconfig": "other"})


def test_k8s_auth_host_precedes_kubeconfig_as_for_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("K8S_AUTH_KUBECONFIG", raising=False)
    monkeypatch.setenv("K8S_AUTH_HOST", "https://one.test")
    monkeypatch.setenv("KUBECONFIG", "other")
    options = Access.from_variables({"perf_kubeconfig": ""}).module_options()
    assert "kubeconfig" not in options and "context" not in options


def _kubeconfig(path: Path, current: str | None) -> Path:
    cluster = {"name": "c", "cluster": {"server": "https://10.0.0.1:6443"}}
    contexts = [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("one", "two")]
    document = {"clusters": [cluster], "contexts": contexts, "users": [{"name": "u", "user": {"token": "hush"}}]}
    path.write_text(yaml.safe_dump({**document, **({"current-context": current} if current else {})}))
    return path


def test_cluster_is_recorded_for_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("K8S_AUTH_HOST", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    _kubeconfig(tmp_path / "config", "two")
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / "config")
    assert Access("config").variables() == {"perf_kubeconfig": path, "perf_kube_context": "two"}
    assert Access("config", "one").variables() == {"perf_kubeconfig": path, "perf_kube_context": "one"}
    proxy = "http://bastion:3128"
    assert Access("config", "one", proxy).variables()["perf_kube_proxy"] == proxy
    assert "perf_kube_proxy" not in Access("config", "one", "http://ada:hush@bastion:3128").variables()
    with pytest.raises(ClusterError, match="does not exist"):
        Access("nowhere").variables()
    _kubeconfig(tmp_path / "config", None)
    with pytest.raises(ClusterError, match="has no current-context"):
        Access("config").variables()
    monkeypatch.setenv("K8S_AUTH_HOST", "https://10.0.0.1:6443")
    assert Access().variables() == {}
