"""The controller of the lab's gateway: the configuration of Envoy, and the statuses."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from perflab.cluster import real_node
from perflab.cluster.api import Document
from perflab.cluster.model_pods import MODEL
from perflab.emulators.kubernetes.gateway import envoy
from perflab.emulators.kubernetes.gateway.endpoints import address_of
from perflab.emulators.kubernetes.gateway.routing import CONTROLLER
from perflab.processes.state import Lab, Options

from .memory_api import MemoryApi, conditions, found, settle, with_kind

GROUP, POOLS = "/apis/gateway.networking.k8s.io/v1", "/apis/inference.networking.k8s.io/v1/namespaces/{}/inferencepools"
ROUTES, GATEWAY = f"{GROUP}/namespaces/models/httproutes", f"{GROUP}/namespaces/gates/gateways/gate"
KINDS = ("gatewayclasses", "gateways", "httproutes")
PORT = 15000


def put(api: MemoryApi, path: str, name: str, spec: Document, **metadata: Any) -> Document:
    return api.put(path, {"metadata": {"name": name, **metadata}, "spec": spec})


def pod(
    api: MemoryApi, name: str, address: str, ready: str = "True", spec: Document | None = None, role: str = "both"
) -> None:
    metadata = {"name": name, "labels": {"app": "opt", "llm-d.ai/role": role}, "annotations": {MODEL: ""}}
    status = {"podIP": address, "conditions": [{"type": "Ready", "status": ready}]}
    api.put("/api/v1/namespaces/models/pods", {"metadata": metadata, "spec": spec or {}, "status": status})


def rule(path: str, backend: str, new: str | None = None, **more: Any) -> Document:
    group, kind = ("inference.networking.k8s.io", "InferencePool") if backend == "pool" else ("", "Service")
    rewrite = {"type": "URLRewrite", "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": new}}}
    return {
        "matches": [{"path": {"type": "PathPrefix", "value": path}}],
        "backendRefs": [{"group": group, "kind": kind, "name": backend, "port": 8000, "weight": 1}],
        **({"filters": [rewrite]} if new is not None else {}),
        **more,
    }


def route(api: MemoryApi, name: str, *rules: Document, **spec: Any) -> None:
    parent = {"name": "gate", "namespace": "gates"}
    put(api, ROUTES, name, {"parentRefs": [parent], "rules": list(rules), **spec})


def cluster(allowed: str = "All") -> MemoryApi:
    """Create a Gateway, a Service `svc` and an InferencePool `pool` of the pods of `app: opt`."""
    api = MemoryApi()
    with_kind(api, *(f"{kind}.gateway.networking.k8s.io/v1" for kind in KINDS))
    with_kind(api, "inferencepools.inference.networking.k8s.io/v1")
    put(api, f"{GROUP}/gatewayclasses", "lab", {"controllerName": CONTROLLER})
    listener = {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": allowed}}}
    put(api, f"{GROUP}/namespaces/gates/gateways", "gate", {"gatewayClassName": "lab", "listeners": [listener]})
    put(api, "/api/v1/namespaces/models/services", "svc", {"selector": {"app": "opt"}})
    picker = {"name": "picker", "port": {"number": 9002}}
    pool = {"selector": {"matchLabels": {"app": "opt"}}, "targetPorts": [{"number": 8000}], "endpointPickerRef": picker}
    put(api, POOLS.format("models"), "pool", pool)
    return api


def settle_routes(
    api: MemoryApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Document, dict[str, list[tuple[str, int]]]]:
    """Return Envoy's routes, and the endpoints of its clusters."""
    routes, clusters = settle_files(api, tmp_path, monkeypatch)
    return routes, {each["name"]: list(addresses(each)) for each in clusters}


def settle_files(
    api: MemoryApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *products: str
) -> tuple[Document, list[Document]]:
    """Return Envoy's routes and clusters in a lab with *products*."""
    lab = Lab(tmp_path / "lab", Options(products=products), ports={"kube-apiserver": 1, "models": PORT})
    (lab.folder / envoy.FOLDER).mkdir(parents=True, exist_ok=True)
    lab.write()
    monkeypatch.chdir(lab.folder)
    asyncio.run(settle(api, "gateway", tmp_path))
    clusters, routes = (
        json.loads((lab.folder / envoy.FOLDER / name).read_text())["resources"]
        for name in (envoy.CLUSTERS_FILE, envoy.ROUTES_FILE)
    )
    return routes[0], clusters


def addresses(one: Document) -> list[tuple[str, int]]:
    (group,) = one["load_assignment"]["endpoints"]
    sockets = [each["endpoint"]["address"]["socket_address"] for each in group["lb_endpoints"]]
    return [(each["address"], each["port_value"]) for each in sockets]


def entries(configuration: Document, host: str = "*") -> list[Document]:
    (found,) = (each["routes"] for each in configuration["virtual_hosts"] if each["domains"] == [host])
    return list(found)


def parent_conditions(api: MemoryApi, path: str) -> dict[str, tuple[str, str]]:
    (parent,) = found(api, path)["status"]["parents"]
    return {each["type"]: (each["status"], each["reason"]) for each in parent["conditions"]}


def test_model_is_reached_by_its_paths_at_ready_pods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = cluster()
    for name, ready in (("a", "True"), ("b", "True"), ("starts", "False")):
        pod(api, name, f"10.128.0.{ord(name[0])}", ready)
    completions = rule("/models/opt/v1/completions", "pool", "/v1/completions")
    route(api, "opt", rule("/models/opt", "svc", "/"), completions)
    configuration, clusters = settle_routes(api, tmp_path, monkeypatch)
    both = [("127.128.0.97", PORT), ("127.128.0.98", PORT)]
    assert clusters == {"inferencepool/models/pool": both, "service/models/svc/8000": both}
    first, second = entries(configuration)
    # The longer prefix is first, regardless of the order in the route.
    assert first["match"]["path_separated_prefix"] == "/models/opt/v1/completions"
    assert first["route"]["prefix_rewrite"] == "/v1/completions"
    assert first["route"]["weighted_clusters"]["clusters"] == [{"name": "inferencepool/models/pool", "weight": 1}]
    assert second["route"]["regex_rewrite"] == {"pattern": {"regex": "^/models/opt/*"}, "substitution": "/"}
    assert parent_conditions(api, f"{ROUTES}/opt") == {
        "Accepted": ("True", "Accepted"),
        "ResolvedRefs": ("True", "ResolvedRefs"),
    }
    gateway = found(api, GATEWAY)
    assert conditions(gateway) == {"Accepted": "True", "Programmed": "True"}
    assert gateway["status"]["addresses"] == [{"type": "IPAddress", "value": "127.0.0.1"}]
    assert [each["attachedRoutes"] for each in gateway["status"]["listeners"]] == [1]
    assert parent_conditions(api, f"{POOLS.format('models')}/pool")["Accepted"] == ("True", "Accepted")
    api.writes.clear()
    settle_routes(api, tmp_path, monkeypatch)
    assert api.writes == []


def test_missing_backend_is_answered_by_envoy_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = cluster()
    route(api, "lost", rule("/lost", "nobody"))
    old = {"group": "inference.networking.x-k8s.io", "kind": "InferencePool", "name": "pool"}
    route(api, "old", {**rule("/old", "pool"), "backendRefs": [old]})
    other = {"name": "svc", "namespace": "elsewhere"}
    route(api, "far", {**rule("/far", "svc"), "backendRefs": [other]})
    configuration, clusters = settle_routes(api, tmp_path, monkeypatch)
    assert clusters == {}
    assert {each["route"]["cluster_not_found_response_code"] for each in entries(configuration)} == {
        "INTERNAL_SERVER_ERROR"
    }
    reasons = {name: parent_conditions(api, f"{ROUTES}/{name}")["ResolvedRefs"] for name in ("lost", "old", "far")}
    assert reasons == {
        "lost": ("False", "BackendNotFound"),
        # KServe uses the newer group then.
        "old": ("False", "InvalidKind"),
        "far": ("False", "RefNotPermitted"),
    }


@pytest.mark.parametrize(
    ("allowed", "spec", "reason"),
    [
        ("Same", {}, "NotAllowedByListeners"),
        ("All", {"parentRefs": [{"name": "gate", "namespace": "gates", "sectionName": "https"}]}, "NoMatchingParent"),
        ("All", {"rules": [rule("/", "svc", filters=[{"type": "RequestMirror"}])]}, "UnsupportedValue"),
        (
            "All",
            {"rules": [{"matches": [{"path": {"type": "RegularExpression", "value": "/"}}]}]},
            "UnsupportedValue",
        ),
    ],
)
def test_rejected_route_has_a_reason_and_no_destination(
    allowed: str, spec: Document, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = cluster(allowed)
    route(api, "refused", rule("/a", "svc"), **{key: value for key, value in spec.items() if key != "rules"})
    if "rules" in spec:
        found(api, f"{ROUTES}/refused")["spec"]["rules"] = spec["rules"]
    configuration, clusters = settle_routes(api, tmp_path, monkeypatch)
    assert (entries(configuration), clusters) == ([], {})
    assert parent_conditions(api, f"{ROUTES}/refused")["Accepted"] == ("False", reason)
    assert [each["attachedRoutes"] for each in found(api, GATEWAY)["status"]["listeners"]] == [0]


def test_foreign_gateways_and_routes_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = cluster()
    put(api, f"{GROUP}/gatewayclasses", "lab", {"controllerName": "istio.io/gateway-controller"})
    route(api, "theirs", rule("/a", "svc"))
    configuration, _ = settle_routes(api, tmp_path, monkeypatch)
    assert entries(configuration) == []
    assert "status" not in found(api, GATEWAY)
    assert "status" not in found(api, f"{ROUTES}/theirs")


def test_host_has_its_routes_and_those_of_all_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = cluster()
    exact = {"matches": [{"path": {"type": "Exact", "value": "/a"}, "method": "GET"}], "backendRefs": [{"name": "svc"}]}
    route(api, "any", rule("/", "svc", timeouts={"request": "1m2s500ms"}))
    route(api, "one", rule("/a", "svc"), exact, hostnames=["one.example.com"])
    configuration, _ = settle_routes(api, tmp_path, monkeypatch)
    (everywhere,) = entries(configuration)
    assert (everywhere["match"]["prefix"], everywhere["route"]["timeout"]) == ("/", "62.500s")
    first, *others = entries(configuration, "one.example.com")
    assert first["match"]["path"] == "/a"
    assert first["match"]["headers"] == [{"name": ":method", "string_match": {"exact": "GET"}}]
    assert [each["match"].get("path_separated_prefix", "/") for each in others] == ["/a", "/"]


def policies(one: Document) -> list[str]:
    """Return the names of the policies of a cluster, each followed by the policy to which it falls back."""
    found, each = [], one["load_balancing_policy"]
    while each:
        (policy,) = each["policies"]
        found.append(policy["typed_extension_config"]["name"])
        each = policy["typed_extension_config"]["typed_config"].get("fallback_policy")
    return found


@pytest.mark.parametrize("mode", ["FailOpen", "FailClose"])
def test_picker_of_a_pool_chooses_the_endpoint_in_a_lab_with_pickers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    api = cluster()
    found(api, f"{POOLS.format('models')}/pool")["spec"]["endpointPickerRef"]["failureMode"] = mode
    pod(api, "a", "10.128.0.7")
    route(api, "opt", rule("/pool", "pool"), rule("/svc", "svc"), rule("/lost/pool", "absent"))
    configuration, clusters = settle_files(api, tmp_path, monkeypatch, "kserve", "endpoint-picker", "models")
    least = "least_request"
    assert {each["name"]: policies(each) for each in clusters} == {
        "inferencepool/models/pool": ["envoy.load_balancing_policies.override_host", least],
        "service/models/svc/8000": [least],
    }
    weights = [each["route"]["weighted_clusters"]["clusters"] for each in entries(configuration)]
    filters = {name: one.get("typed_per_filter_config", {}) for (one,) in weights for name in [one["name"]]}
    assert filters["service/models/svc/8000"] == filters["service/models/absent/8000"] == {}
    overrides = filters["inferencepool/models/pool"]["endpoint-picker"]["overrides"]
    assert [each["value"] for each in overrides["grpc_initial_metadata"]] == ["models/pool"]
    assert overrides.get("failure_mode_allow", False) == (mode == "FailOpen")
    configuration, clusters = settle_files(api, tmp_path, monkeypatch, "kserve", "models")
    assert {name for each in clusters for name in policies(each)} == {least}
    assert "typed_per_filter_config" not in json.dumps(configuration)


def test_only_a_picker_sends_requests_to_pods_that_prefill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = cluster()
    pod(api, "prefills", "10.128.0.1", role="prefill")
    pod(api, "decodes", "10.128.0.2", role="decode")
    route(api, "opt", rule("/pool", "pool"))
    _configuration, clusters = settle_routes(api, tmp_path, monkeypatch)
    assert clusters == {"inferencepool/models/pool": [("127.128.0.2", PORT)]}
    # the picker's decode-filter excludes them, or not
    _configuration, (pool,) = settle_files(api, tmp_path, monkeypatch, "kserve", "endpoint-picker", "models")
    assert addresses(pool) == [("127.128.0.1", PORT), ("127.128.0.2", PORT)]


@pytest.mark.parametrize("wanted", ["true", "false"])
def test_requests_without_a_required_token_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    api = cluster()
    parent = {"name": "gate", "namespace": "gates"}
    spec = {"parentRefs": [parent], "rules": [rule("/models/opt", "svc"), rule("/models/opt/v1", "pool")]}
    put(api, ROUTES, "opt", spec, annotations={envoy.PROTECTION: wanted})
    configuration, _clusters = settle_routes(api, tmp_path, monkeypatch)
    found = [(each["match"]["path_separated_prefix"], "direct_response" in each) for each in entries(configuration)]
    refused = [each for each in found if each[1]]
    led = [("/models/opt/v1", False), ("/models/opt", False)]
    assert [each for each in found if not each[1]] == led
    assert refused == ([(path, True) for path, _ in led] if wanted == "true" else [])
    # Each one is refused before it is routed.
    assert all(found.index((path, True)) < found.index((path, False)) for path, _ in refused)


def test_host_network_pod_has_no_address_of_its_own() -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    metadata = {"name": "a", "namespace": "b", "annotations": {MODEL: ""}}
    simulated: Document = {"metadata": metadata, "spec": {}}
    assert address_of({**simulated, "status": {**ready, "podIP": "10.130.1.2"}}) == "127.130.1.2"
    assert address_of({**simulated, "status": {**ready, "podIP": "127.0.0.1"}}) == ""
    undeclared = {**simulated, "metadata": {**metadata, "annotations": {}}}
    assert address_of({**undeclared, "status": {**ready, "podIP": "10.1.1.1"}}) == ""
    assert address_of(None) == ""


def test_real_pods_are_reached_at_their_addresses_and_target_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = cluster()
    ports: list[Document] = [
        {"port": 80, "targetPort": "http"},
        {"port": 81, "targetPort": 9000},
        {"port": 82, "targetPort": "none"},
    ]
    put(api, "/api/v1/namespaces/models/services", "svc", {"selector": {"app": "opt"}, "ports": ports})
    containers = [{"name": "main", "ports": [{"name": "http", "containerPort": 8080}]}]
    pod(api, "real", "198.18.4.5", spec={"nodeName": real_node.NAME, "containers": containers})
    pod(api, "simulated", "10.128.0.7")
    backends = [{"name": "svc", "port": each["port"]} for each in ports]
    route(api, "opt", rule("/pool", "pool"), {**rule("/svc", "svc"), "backendRefs": backends})
    _configuration, clusters = settle_routes(api, tmp_path, monkeypatch)
    simulated = ("127.128.0.7", PORT)
    assert clusters == {
        "inferencepool/models/pool": [simulated, ("198.18.4.5", 8000)],
        "service/models/svc/80": [simulated, ("198.18.4.5", 8080)],
        "service/models/svc/81": [simulated, ("198.18.4.5", 9000)],
        "service/models/svc/82": [simulated],
    }
