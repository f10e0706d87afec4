"""How often a request is tried, against a server made for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.access import Access
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster

from tests.http_servers import Quiet, served


class _Busy(Quiet, BaseHTTPRequestHandler):
    """Says 429 with Retry-After so many times, then answers the version."""

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


def test_a_server_that_says_when_to_come_again_is_believed(cluster: Cluster) -> None:
    _Busy.refusals = 5
    assert cluster.version() == "v1.36.3"


def test_but_not_for_ever(cluster: Cluster) -> None:
    _Busy.refusals = 1000
    with pytest.raises(ClusterError, match="429"):
        cluster.version()
