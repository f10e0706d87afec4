"""Reaching a cluster: what is no kubeconfig is said to be none, in one sentence."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster import kinds_by_version
from ansible_collections.psap.perf.plugins.module_utils.cluster.access import Access, configured
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query

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
        ("just a text", "holds a text instead of a mapping"),
        ("[1, 2]", "holds a list instead of a mapping"),
        ("", "holds nothing instead of a mapping"),
        ("clusters: 4", "is damaged: clusters is no list of mappings"),
        ("users: [me]", "is damaged: users is no list of mappings"),
        (
            "{contexts: [{name: x, context: y}], current-context: x}",
            "is damaged: its context 'x' holds a text instead of",
        ),
        ("a: [", r"is no YAML \(line 1\)"),
    ],
)
def test_damaged_kubeconfig_is_named_with_its_damage(content: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(content, encoding="utf-8")
    sentence = rf"the kubeconfig {path} {why}.*; correct it, or set KUBECONFIG, or perf_kubeconfig"
    with pytest.raises(ClusterError, match=sentence), configured(Access(kubeconfig=str(path))):
        pass


def test_so_is_a_folder(tmp_path: Path) -> None:
    with (
        pytest.raises(ClusterError, match="cannot be read: Is a directory"),
        configured(Access(kubeconfig=str(tmp_path))),
    ):
        pass


def test_a_cluster_that_takes_a_connection_and_never_answers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds_by_version, "_REQUEST_TIMEOUT_S", (0.1, 0.1))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"http://127.0.0.1:{silent.getsockname()[1]}"
        path = tmp_path / "kubeconfig"
        path.write_text(_KUBECONFIG.format(server=server), encoding="utf-8")
        with pytest.raises(ClusterError, match=f"cannot reach the cluster at {server} while looking for Node"):
            Cluster(Access(kubeconfig=str(path))).serves("v1", "Node")


def test_a_kind_without_watch_is_not_asked_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(_KUBECONFIG.format(server="http://127.0.0.1:1"), encoding="utf-8")
    cluster = Cluster(Access(kubeconfig=str(path)))
    # as discovery tells of PackageManifests
    monkeypatch.setattr(cluster, "_resource", lambda *_: SimpleNamespace(verbs=["get", "list"]))
    assert list(cluster.watch(Query("packages.operators.coreos.com/v1", "PackageManifest"), "1", 60)) == []
