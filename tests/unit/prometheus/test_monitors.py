"""The targets of a monitor, and the request to each."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.prometheus.monitors import (
    Key,
    Request,
    endpoints_of,
    namespaces_of,
    samples_in,
    selector_of,
    targets_of_pod,
    targets_of_slice,
)


def monitor(endpoint: dict[str, Any], kind: str = "ServiceMonitor", **spec: Any) -> dict[str, Any]:
    field = "podMetricsEndpoints" if kind == "PodMonitor" else "endpoints"
    return {"kind": kind, "metadata": {"name": "m", "namespace": "own"}, "spec": {field: [endpoint], **spec}}


SLICE = {
    "metadata": {"namespace": "app"},
    "ports": [{"name": "web", "port": 8080}, {"name": "metrics", "port": 9090}],
    "endpoints": [
        {"addresses": ["10.0.0.1"], "targetRef": {"kind": "Pod", "namespace": "app", "name": "one"}},
        {"addresses": ["10.0.0.2"], "targetRef": {"kind": "Pod", "name": "two"}},
        {"addresses": ["192.0.2.1"]},
    ],
}
POD = {
    "metadata": {"namespace": "app", "name": "one"},
    "spec": {
        "containers": [{"name": "a"}, {"name": "b", "ports": [{"name": "metrics", "containerPort": 9090}]}],
    },
}


@pytest.mark.parametrize(
    ("endpoint", "ports"),
    [
        ({"port": "metrics"}, [("one", 9090), ("two", 9090)]),
        ({"targetPort": 8080}, [("one", 8080), ("two", 8080)]),
        ({"port": "nowhere"}, []),
        ({}, []),
    ],
)
def test_service_has_the_pods_behind_the_port_of_its_monitor(
    endpoint: dict[str, Any], ports: list[tuple[str, int]]
) -> None:
    found = targets_of_slice(endpoints_of(monitor(endpoint)), SLICE)
    assert [(target.pod, target.port) for target in found] == ports


@pytest.mark.parametrize("endpoint", [{"port": "metrics"}, {"portNumber": 9090}, {"targetPort": "metrics"}])
def test_pod_has_the_port_by_name_or_number(endpoint: dict[str, Any]) -> None:
    endpoints = endpoints_of(monitor(endpoint, "PodMonitor"))
    assert [target.port for target in targets_of_pod(endpoints, POD)] == [9090]
    assert not list(targets_of_pod(endpoints, {**POD, "status": {"phase": "Succeeded"}}))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({}, Request()),
        ({"path": "/m", "params": {"a": ["1", "2"]}}, Request(path="/m?a=1&a=2")),
        ({"authorization": {"credentials": {"name": "s", "key": "k"}}}, Request(token=Key("Secret", "s", "k"))),
        ({"authorization": {"type": "Token", "credentials": {"name": "s", "key": "k"}}},
         Request(kind="Token", token=Key("Secret", "s", "k"))),
        ({"bearerTokenSecret": {"name": "s", "key": "k"}}, Request(token=Key("Secret", "s", "k"))),
        ({"bearerTokenSecret": {"key": ""}, "bearerTokenFile": "/var/run/token"}, Request(own_token=True)),
        ({"basicAuth": {"username": {"name": "s", "key": "u"}, "password": {"name": "s", "key": "p"}}},
         Request(kind="Basic", user=Key("Secret", "s", "u"), token=Key("Secret", "s", "p"))),
        ({"scheme": "HTTPS", "tlsConfig": {"ca": {"configMap": {"name": "c", "key": "ca"}}, "serverName": "n"}},
         Request(scheme="https", authority=Key("ConfigMap", "c", "ca"), server="n")),
        ({"scheme": "https", "tlsConfig": {"insecureSkipVerify": True, "ca": {"secret": {"name": "c", "key": "ca"}}}},
         Request(scheme="https")),
    ],
)  # fmt: skip
def test_endpoint_is_scraped_as_the_monitor_configures(entry: dict[str, Any], expected: Request) -> None:
    (endpoint,) = endpoints_of(monitor(entry))
    assert endpoint.request == expected


def test_selector_has_the_kubectl_syntax() -> None:
    selector = {
        "matchLabels": {"b": "2", "a": "1"},
        "matchExpressions": [
            {"key": "c", "operator": "In", "values": ["x", "y"]},
            {"key": "d", "operator": "NotIn", "values": ["z"]},
            {"key": "e", "operator": "Exists"},
            {"key": "f", "operator": "DoesNotExist"},
        ],
    }
    assert selector_of(monitor({}, selector=selector)) == "a=1,b=2,c in (x,y),d notin (z),e,!f"
    assert selector_of(monitor({}, selector={})) == ""


@pytest.mark.parametrize(
    ("chosen", "namespaces"), [({}, ["own"]), ({"any": True}, [None]), ({"matchNames": ["a", "b"]}, ["a", "b"])]
)
def test_monitor_selects_its_namespace_unless_configured(chosen: dict[str, Any], namespaces: list[str | None]) -> None:
    assert namespaces_of(monitor({}, namespaceSelector=chosen)) == namespaces


def test_samples_are_the_lines_without_comments() -> None:
    assert samples_in('# HELP a b\n# TYPE a counter\na 1\na{b="c"} 2\n\n') == 2
