"""Finding Prometheus, and refused places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Address
from ansible_collections.psap.perf.plugins.module_utils.prometheus.location import (
    NoPrometheusError,
    PrometheusOptions,
    find,
)

CA = {"data": {"ca-bundle.crt": "PEM of the cluster"}}


class _Cluster:
    """Objects of a cluster; records the accounts whose tokens were requested."""

    def __init__(self, lab: dict[str, str] | None = None, objects: dict[str, Any] | None = None) -> None:
        self._lab, self._objects = lab, objects
        self.tokens: list[tuple[str, str, int]] = []
        self.proxy: str | None = None

    def lab(self) -> dict[str, str] | None:
        return self._lab

    def serves(self, api_version: str, kind: str) -> bool:
        return self._objects is not None

    def get(self, query: Query) -> Manifest | None:
        return (self._objects or {}).get(f"{query.kind} {query.namespace}/{query.name}")

    def service_account_token(self, namespace: str, name: str, lasting_s: int) -> str:
        self.tokens.append((namespace, name, lasting_s))
        return "short-lived"


def _route(name: str) -> dict[str, Any]:
    return {f"Route openshift-monitoring/{name}": {"spec": {"host": f"{name}.apps.example.com"}}}


def _no_cluster() -> _Cluster:
    raise AssertionError("the cluster is not asked when the address is given")


def test_given_address_needs_no_cluster(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_text("PEM")
    options = PrometheusOptions(
        "https://prom.example.com", token="t0ken", authority=str(authority), proxy="http://proxy:3128"
    )
    assert find(_no_cluster, options) == Address(
        "https://prom.example.com", "as given", "t0ken", "PEM", "http://proxy:3128", None
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (PrometheusOptions("prom.example.com"), "is not an http"),
        (PrometheusOptions("https://me:hush@prom.example.com"), "credentials, .*; pass a token for prom.example.com$"),
        (PrometheusOptions("http://prom.example.com", token="t0ken"), "would be sent in plain text"),
        (PrometheusOptions("https://prom.example.com", authority="/nowhere/ca.pem"), "certificates /nowhere/ca.pem"),
    ],
)
def test_invalid_address_is_refused(options: PrometheusOptions, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find(_no_cluster, options)


def test_lab_reports_its_address() -> None:
    cluster = _Cluster({"prometheus-url": "http://127.0.0.1:9090", "prometheus-data": "/labs/x/prometheus/data"})
    found = find(lambda: cluster, PrometheusOptions())
    assert found == Address("http://127.0.0.1:9090", "of the lab", data=Path("/labs/x/prometheus/data"))
    assert not cluster.tokens


@pytest.mark.parametrize("lab", [{"name": "mine"}, {"name": "mine", "prometheus-url": "http://10.0.0.1:9090"}])
def test_lab_without_prometheus_is_reported(lab: dict[str, str]) -> None:
    with pytest.raises(NoPrometheusError, match=r"the lab mine has no Prometheus; perflab up --profile openshift"):
        find(lambda: _Cluster(lab), PrometheusOptions())


def test_openshift_has_routes_tokens_and_certificates() -> None:
    objects = {
        **_route("thanos-querier"),
        **_route("prometheus-k8s"),
        "ConfigMap openshift-config-managed/default-ingress-cert": CA,
    }
    cluster = _Cluster(objects=objects)
    cluster.proxy = "http://proxy:3128"
    assert find(lambda: cluster, PrometheusOptions()) == Address(
        "https://thanos-querier.apps.example.com",
        "route openshift-monitoring/thanos-querier",
        "short-lived",
        "PEM of the cluster",
        "http://proxy:3128",
    )
    assert cluster.tokens == [("openshift-monitoring", "prometheus-k8s", 3600)]


def test_second_route_and_another_account_are_used() -> None:
    cluster = _Cluster(objects=_route("prometheus-k8s"))
    found = find(lambda: cluster, PrometheusOptions(service_account="tuning/reader"))
    assert (found.url, found.authority) == ("https://prometheus-k8s.apps.example.com", None)
    assert cluster.tokens == [("tuning", "reader", 3600)]
    with pytest.raises(UsageError, match="write namespace/name"):
        find(lambda: cluster, PrometheusOptions(service_account="reader"))


def test_missing_prometheus_is_reported() -> None:
    with pytest.raises(NoPrometheusError, match="has none of the routes thanos-querier, prometheus-k8s"):
        find(lambda: _Cluster(objects={}), PrometheusOptions())
    with pytest.raises(NoPrometheusError, match="neither a lab nor OpenShift; pass its url"):
        find(lambda: _Cluster(), PrometheusOptions())
