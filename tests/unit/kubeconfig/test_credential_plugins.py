"""Credential plugins of kubeconfigs: bounded in time and output, stopped immediately, and named if they fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.outage import Outage
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig import credential_plugin
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access, configured
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import load_endpoint

from tests.dead_processes import PATIENCE_S, wait_until_dead

pytestmark = pytest.mark.slow

VERSION = "client.authentication.k8s.io/v1"
READERS: dict[str, Callable[[str], Any]] = {
    "verb": lambda path: Cluster(Access(path)),
    "submitter": load_endpoint,
}


def kubeconfig(folder: Path, script: str, user: str = "u", cluster: dict[str, Any] | None = None, **plugin: Any) -> str:
    """Return the path of a kubeconfig whose user has a plugin in the same folder, a shell *script*."""
    program = folder / "plugin"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o700)
    described = {"apiVersion": VERSION, "command": "./plugin", **plugin}
    document = {
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1", **(cluster or {})}}],
        "users": [{"name": "u", "user": {"exec": described}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": user}}],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return str(path)


def credential(**status: str) -> str:
    """Return the shell command that prints an ExecCredential with this *status*."""
    text = ", ".join(f'"{key}": "{value}"' for key, value in status.items())
    return f"""echo '{{"apiVersion": "{VERSION}", "kind": "ExecCredential", "status": {{{text}}}}}'"""


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_hanging_plugin_ends_at_its_limit_with_its_children(
    read: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credential_plugin, "_LIMIT_S", 0.5)
    path = kubeconfig(tmp_path, "sleep 60 & echo $! > child; wait")
    begun = time.monotonic()
    with pytest.raises(
        ClusterError, match=rf"plugin \./plugin of the kubeconfig {path} did not end within 0\.5 s"
    ) as caught:
        read(path)
    assert caught.value.exit_code == 3
    assert time.monotonic() - begun < PATIENCE_S
    wait_until_dead(int((tmp_path / "child").read_text()))


def test_interrupt_stops_a_hanging_plugin_within_a_second(tmp_path: Path) -> None:
    path, begun = kubeconfig(tmp_path, "echo $$ > child; sleep 60"), time.monotonic()

    def check() -> None:
        if (tmp_path / "child").exists():
            raise Interrupted("stop")

    with pytest.raises(Interrupted):
        Cluster(Access(path), Outage(60.0, check))
    assert time.monotonic() - begun < PATIENCE_S
    wait_until_dead(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 3", "ended with exit code 3; run it by hand"),
        ("echo 'no session: log in' >&2; exit 1", r"ended with exit code 1 \(no session: log in\)"),
        ("echo garbage", "printed no ExecCredential"),
        ("echo '[]'", "printed no ExecCredential"),
        ("echo '{\"status\": null}'", "printed no ExecCredential"),
        (credential(), "returned no token and no client certificate"),
        (
            credential(token="t").replace("/v1", "/v1alpha1"),
            f"printed an ExecCredential of .*v1alpha1 instead of {VERSION}",
        ),
        ("yes", "printed more than 1 MiB"),
    ],
    ids=["exit-code", "reason", "garbage", "list", "null", "empty", "version", "endless"],
)
def test_failed_plugin_is_named_with_its_cause(
    script: str, why: str, read: Callable[[str], Any], tmp_path: Path
) -> None:
    path = kubeconfig(tmp_path, script)
    with pytest.raises(ClusterError, match=rf"the credential plugin \./plugin of the kubeconfig {path} {why}"):
        read(path)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_missing_plugin_is_named_with_its_install_hint(read: Callable[[str], Any], tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, "", command="aws-of-nobody", installHint="Install it from the vendor.\nOr not.")
    with pytest.raises(
        ClusterError, match=r"aws-of-nobody .* cannot be run: No such file .*; Install it from the vendor"
    ):
        read(path)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("plugin", [{"command": ""}, {"env": [1]}, {"env": [{"name": "A"}]}, {"args": 1}])
def test_incomplete_plugin_is_refused(read: Callable[[str], Any], plugin: dict[str, Any], tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, credential(token="t"), **plugin)
    with pytest.raises(ClusterError, match=r"describes its credential plugin .* incompletely|cannot be run"):
        read(path)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_unknown_user_is_named(read: Callable[[str], Any], tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, "", user="ada")
    with pytest.raises(ClusterError, match=rf"the kubeconfig {path} has no user 'ada'; it has: u"):
        read(path)


def test_arguments_are_not_in_the_reason(tmp_path: Path) -> None:
    script = 'echo "unknown flag: $1" >&2; exit 1'
    path = kubeconfig(tmp_path, script, args=["--oidc-client-secret=hush-hush"])
    with pytest.raises(ClusterError, match="unknown flag") as caught:
        load_endpoint(path)
    assert "hush-hush" not in str(caught.value)


def test_background_process_delays_nothing(tmp_path: Path) -> None:
    path, begun = kubeconfig(tmp_path, f"sleep 20 & {credential(token='t')}"), time.monotonic()
    assert load_endpoint(path).token == "t"
    assert time.monotonic() - begun < 10


def test_expiring_token_is_requested_again(tmp_path: Path) -> None:
    script = "echo x >> calls; " + credential(token="t", expirationTimestamp="2020-01-01T00:00:00Z")
    path = kubeconfig(tmp_path, script)
    endpoint = load_endpoint(path)
    with configured(Access(path)) as configuration:
        calls = len((tmp_path / "calls").read_text(encoding="utf-8").split())
        assert configuration.auth_settings()["BearerToken"]["value"] == "Bearer t"
        assert endpoint.headers() == {"Authorization": "Bearer t"}
        assert len((tmp_path / "calls").read_text(encoding="utf-8").split()) == calls + 2


def test_plugin_gets_the_cluster_on_request(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("authority", encoding="utf-8")
    cluster = {
        "certificate-authority": "ca",
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "perf"}}],
    }
    script = f'echo "$KUBERNETES_EXEC_INFO" > info; {credential(token="t")}'
    load_endpoint(kubeconfig(tmp_path, script, cluster=cluster, provideClusterInfo=True))
    info = yaml.safe_load((tmp_path / "info").read_text(encoding="utf-8"))
    assert info["spec"]["cluster"] == {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": "YXV0aG9yaXR5",
        "config": {"audience": "perf"},
    }
