"""Kinds with a group have the version that the server prefers among those that serve them."""

from __future__ import annotations

import http.server
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import query_from
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.standins.http_servers import Quiet, served

DSC = "datasciencecluster.opendatahub.io"


class Api(Quiet, http.server.BaseHTTPRequestHandler):
    """An API server of namespaced kinds, each with one empty object; it records the requests."""

    # Kinds by API version, each group's preferred version first
    serves: ClassVar[dict[str, list[str]]]
    asked: ClassVar[list[str]]

    def do_GET(self) -> None:
        """Answer for a group, a version, or a collection."""
        path = self.path.partition("?")[0].removeprefix("/apis/")
        self.asked.append(path)
        versions = [{"groupVersion": version} for version in self.serves if version.startswith(f"{path}/")]
        document: dict[str, Any] | None = None
        if versions:
            document = {"versions": versions, "preferredVersion": versions[0]}
        elif path in self.serves:
            kinds = [{"kind": kind, "name": f"{kind.lower()}s", "namespaced": True} for kind in self.serves[path]]
            document = {"resources": [{**kind, "verbs": ["list"]} for kind in kinds]}
        elif path.rpartition("/")[0] in self.serves:
            document = {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "one"}}]}
        body = json.dumps(document or {"message": "not found"}).encode()
        self.send_response(200 if document else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def api() -> type[Api]:
    return type("Fresh", (Api,), {"serves": {}, "asked": []})


@pytest.fixture
def cluster(api: type[Api], tmp_path: Path) -> Iterator[Cluster]:
    with served(api) as url:
        path = tmp_path / "kubeconfig"
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
            "clusters": [{"name": "x", "cluster": {"server": url}}],
            "users": [{"name": "x", "user": {"token": "none"}}],
        }
        path.write_text(yaml.safe_dump(document), encoding="utf-8")
        found = Cluster(Access(kubeconfig=str(path)))
        yield found
        found.close()


@pytest.mark.parametrize(
    ("kind", "serves", "expected"),
    [
        ("LocalQueue", {"kueue.x-k8s.io/v1beta1": ["LocalQueue"]}, "kueue.x-k8s.io/v1beta1"),
        (
            "LocalQueue",
            {"kueue.x-k8s.io/v1beta2": ["LocalQueue"], "kueue.x-k8s.io/v1beta1": ["LocalQueue"]},
            "kueue.x-k8s.io/v1beta2",
        ),
        # written as v1, it would lose the fields of v2
        (
            "DataScienceCluster",
            {f"{DSC}/v2": ["DataScienceCluster"], f"{DSC}/v1": ["DataScienceCluster"]},
            f"{DSC}/v2",
        ),
        ("DataScienceCluster", {f"{DSC}/v1": ["DataScienceCluster"]}, f"{DSC}/v1"),
        # The preferred version may not have the kind.
        (
            "Subscription",
            {"operators.coreos.com/v1": ["OperatorGroup"], "operators.coreos.com/v1alpha1": ["Subscription"]},
            "operators.coreos.com/v1alpha1",
        ),
    ],
)
def test_known_kind_has_the_preferred_version(
    api: type[Api], cluster: Cluster, kind: str, serves: dict[str, list[str]], expected: str
) -> None:
    api.serves.update(serves)
    (found,), _version = cluster.list(query_from({"kind": kind}))
    assert (found["apiVersion"], found["kind"]) == (expected, kind)


def test_named_version_is_used_without_asking_the_group(api: type[Api], cluster: Cluster) -> None:
    api.serves.update({"ray.io/v2": ["RayJob"], "ray.io/v1": ["RayJob"]})
    (found,), _version = cluster.list(query_from({"kind": "RayJob", "api_version": "ray.io/v1"}))
    assert found["apiVersion"] == "ray.io/v1"
    assert api.asked == ["ray.io/v1", "ray.io/v1/rayjobs"]


def test_kind_is_looked_up_once_per_connection_unless_missing(api: type[Api], cluster: Cluster) -> None:
    query = query_from({"kind": "RayJob"})
    assert not cluster.serves(query.api_version, query.kind)
    with pytest.raises(ClusterError, match=r"serves no RayJob of ray\.io; install what defines it"):
        cluster.list(query)
    # Its CRD is installed now.
    api.serves["ray.io/v1"] = ["RayJob"]
    api.asked.clear()
    for _time in range(2):
        cluster.list(query)
    assert api.asked == ["ray.io", "ray.io/v1", "ray.io/v1/rayjobs", "ray.io/v1/rayjobs"]
