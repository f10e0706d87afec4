"""The API server's endpoint, read from kubeconfigs like kubectl."""

from __future__ import annotations

import base64
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import load_endpoint


def kubeconfig(folder: Path, name: str = "config", **changes: Any) -> Path:
    document: dict[str, Any] = {
        "current-context": "one",
        "clusters": [
            {
                "name": "c",
                "cluster": {"server": "https://api.example:6443/", "proxy-url": "http://proxy:3128"},
            }
        ],
        "users": [{"name": "u", "user": {"token": "t0k"}}],
        "contexts": [
            {"name": "one", "context": {"cluster": "c", "user": "u"}},
            {"name": "two", "context": {"cluster": "c", "user": "file-user"}},
        ],
    }
    document.update(changes)
    path = folder / name
    path.write_text(yaml.safe_dump(document))
    return path


def test_current_context_yields_server_proxy_and_token(tmp_path: Path) -> None:
    endpoint = load_endpoint(str(kubeconfig(tmp_path)))
    assert (endpoint.server, endpoint.proxy) == ("https://api.example:6443", "http://proxy:3128")
    assert endpoint.headers() == {"Authorization": "Bearer t0k"}
    assert "t0k" not in repr(endpoint)


def test_perf_kube_proxy_wins_over_the_kubeconfigs(tmp_path: Path) -> None:
    assert load_endpoint(str(kubeconfig(tmp_path)), proxy="http://bastion:1").proxy == "http://bastion:1"


def test_relative_files_are_found_and_token_files_reread(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(b"authority")
    (tmp_path / "token").write_text("first\n")
    path = kubeconfig(
        tmp_path,
        clusters=[{"name": "c", "cluster": {"server": "https://a", "certificate-authority": "ca.pem"}}],
        users=[{"name": "file-user", "user": {"tokenFile": "token"}}],
    )
    endpoint = load_endpoint(str(path), "two")
    assert endpoint.certificate_authority == b"authority"
    assert endpoint.headers() == {"Authorization": "Bearer first"}
    (tmp_path / "token").write_text("second")
    assert endpoint.headers() == {"Authorization": "Bearer second"}


def test_several_files_are_merged_and_the_first_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = kubeconfig(tmp_path, "first", users=[])
    second = kubeconfig(tmp_path, "second", clusters=[{"name": "c", "cluster": {"server": "https://other"}}])
    monkeypatch.setenv("KUBECONFIG", f"{first}:{second}")
    endpoint = load_endpoint()
    assert (endpoint.server, endpoint.token) == ("https://api.example:6443", "t0k")


def test_credential_plugin_is_called(tmp_path: Path) -> None:
    status = "{'apiVersion': 'client.authentication.k8s.io/v1', 'status': {'token': 'fresh'}}"
    program = f"import json, os; assert os.environ['WHO'] == 'me'; print(json.dumps({status}))"
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", program],
        "env": [{"name": "WHO", "value": "me"}],
    }
    path = kubeconfig(tmp_path, users=[{"name": "u", "user": {"exec": plugin}}])
    assert load_endpoint(str(path)).token == "fresh"


def test_failing_credential_plugin_is_named(tmp_path: Path) -> None:
    plugin = {"apiVersion": "v1", "command": "/nowhere/plugin"}
    path = kubeconfig(tmp_path, users=[{"name": "u", "user": {"exec": plugin}}])
    with pytest.raises(ClusterError, match="/nowhere/plugin"):
        load_endpoint(str(path))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("raise SystemExit(3)", "ended with exit code 3"),
        ("print('{}')", "printed no ExecCredential"),
        ("print('[]')", "printed no ExecCredential"),
        ("import sys; sys.stdin.read(); print('no more')", "printed no ExecCredential"),
    ],
)
def test_credential_plugin_arguments_are_not_printed(tmp_path: Path, program: str, message: str) -> None:
    arguments = ["-c", program, "--oidc-client-secret=hush"]
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable, "args": arguments}
    path = kubeconfig(tmp_path, users=[{"name": "u", "user": {"exec": plugin}}])
    with pytest.raises(ClusterError, match=message) as raised:
        load_endpoint(str(path))
    assert "hush" not in "".join(traceback.format_exception(raised.value))


def test_damaged_kubeconfig_is_reported_by_line_only(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text('users:\n- user:\n    token: "hush\n', encoding="utf-8")
    with pytest.raises(ClusterError, match=r"is not YAML \(line 4\)") as raised:
        load_endpoint(str(path))
    assert "hush" not in "".join(traceback.format_exception(raised.value))
    path.write_bytes(b"\xff")
    with pytest.raises(ClusterError, match="is not YAML"):
        load_endpoint(str(path))
    path.write_text("- users", encoding="utf-8")
    with pytest.raises(ClusterError, match="must be a mapping, not a list"):
        load_endpoint(str(path))


@pytest.mark.parametrize(
    ("changes", "context", "message"),
    [
        ({}, "three", "no context 'three'.*one, two"),
        ({"users": []}, None, "no user 'u'"),
        ({"clusters": [{"name": "c", "cluster": {}}]}, None, "no server"),
    ],
)
def test_missing_parts_are_named(tmp_path: Path, changes: dict[str, Any], context: str | None, message: str) -> None:
    with pytest.raises(ClusterError, match=message):
        load_endpoint(str(kubeconfig(tmp_path, **changes)), context)


def test_missing_cluster_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ClusterError, match="no cluster is configured"):
        load_endpoint()
    with pytest.raises(ClusterError, match="does not exist"):
        load_endpoint(str(tmp_path / "missing"))


def test_broken_certificate_is_one_sentence(tmp_path: Path) -> None:
    cluster = {"server": "https://a", "certificate-authority-data": base64.b64encode(b"rubbish").decode()}
    endpoint = load_endpoint(str(kubeconfig(tmp_path, clusters=[{"name": "c", "cluster": cluster}])))
    with pytest.raises(ClusterError, match="certificates for https://a"):
        endpoint.ssl_context()


def test_awx_variables_yield_address_and_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_bytes(b"certificates")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "another"))
    for name, value in (("HOST", "https://api.test:6443/"), ("API_KEY", "t0ken"), ("SSL_CA_CERT", str(authority))):
        monkeypatch.setenv(f"K8S_AUTH_{name}", value)

    endpoint = load_endpoint(proxy="http://proxy.test")

    assert (endpoint.server, endpoint.proxy) == ("https://api.test:6443", "http://proxy.test")
    assert endpoint.headers() == {"Authorization": "Bearer t0ken"}
    assert (endpoint.certificate_authority, endpoint.insecure) == (b"certificates", False)
    monkeypatch.setenv("K8S_AUTH_VERIFY_SSL", "False")
    assert load_endpoint().insecure
    authority.unlink()
    with pytest.raises(ClusterError, match=r"K8S_AUTH_SSL_CA_CERT, .*, cannot be read: No such file"):
        load_endpoint()
