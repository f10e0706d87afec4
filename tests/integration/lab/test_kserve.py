"""KServe itself, in a lab: models are served by simulated pods, from their creation to their end."""

from __future__ import annotations

from typing import Any

import pytest
from kubernetes.client import ApiException, AutoscalingV2Api, NetworkingV1Api

from .labs import Cluster, Labs, wait_for
from .serving import (
    GROUP,
    LLM,
    NAME,
    NAMESPACE,
    SERVICE,
    address,
    change,
    conditions,
    create,
    create_runtime,
    deployments,
    gateway_url,
    is_ready,
    model_status,
    pods_with_requests,
    predictor,
    read,
    remove,
    request_status,
)
from .workloads import PREFIX


def test_model_is_served_as_its_runtime_declares(kserve: Cluster) -> None:
    create(kserve, SERVICE, "granite", predictor(minReplicas=2, maxReplicas=4), start_delay="1s")
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "granite"))
    assert read(kserve, SERVICE, "granite")["metadata"]["finalizers"] == ["inferenceservice.finalizers"]
    assert address(kserve, SERVICE, "granite") == "http://granite-default.example.com"
    # the first pod serves before Kubernetes' autoscaler requests the second
    wait_for("both serve", lambda: model_status(kserve, "granite").get("copies", {}).get("totalCopies") == 2)
    deployment = kserve.apps.read_namespaced_deployment("granite-predictor", NAMESPACE)
    [container] = deployment.spec.template.spec.containers
    assert (container.name, container.image) == ("kserve-container", "quay.io/vllm:1")
    assert container.resources.limits["nvidia.com/gpu"] == "1"
    # the webhook of pods was called
    pods = kserve.core.list_namespaced_pod(NAMESPACE).items
    assert [[init.name for init in pod.spec.init_containers] for pod in pods] == [["storage-initializer"]] * 2
    scaler = AutoscalingV2Api(kserve.core.api_client).read_namespaced_horizontal_pod_autoscaler(
        "granite-predictor", NAMESPACE
    )
    assert (scaler.spec.min_replicas, scaler.spec.max_replicas) == (2, 4)
    assert kserve.core.read_namespaced_service("granite-predictor", NAMESPACE)
    [ingress] = NetworkingV1Api(kserve.core.api_client).list_namespaced_ingress(NAMESPACE).items
    assert "granite-default.example.com" in [rule.host for rule in ingress.spec.rules]
    remove(kserve, SERVICE, "granite")


def test_model_without_a_runtime_waits_for_one(kserve: Cluster) -> None:
    create(kserve, SERVICE, "waits", predictor("onnx"))
    wait_for("no runtime serves it", lambda: model_status(kserve, "waits").get("transitionStatus") == "InvalidSpec")
    assert model_status(kserve, "waits")["lastFailureInfo"]["reason"] == "NoSupportingRuntime"
    assert not is_ready(kserve, SERVICE, "waits")
    assert deployments(kserve) == []
    create_runtime(kserve, "onnx")
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "waits"))
    remove(kserve, SERVICE, "waits")


def test_invalid_service_is_refused(kserve: Cluster) -> None:
    with pytest.raises(ApiException, match="MinReplicas"):
        create(kserve, SERVICE, "wrong", predictor(minReplicas=3, maxReplicas=2))


def test_model_with_a_failing_pod_is_unready_until_changed(kserve: Cluster) -> None:
    create(kserve, SERVICE, "fails", predictor())
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "fails"))
    change(kserve, SERVICE, "fails", {"spec": {"predictor": {"model": {"image": "registry.invalid/vllm:2"}}}})
    wait_for("another pod cannot start", lambda: len(kserve.core.list_namespaced_pod(NAMESPACE).items) == 2)
    change(kserve, SERVICE, "fails", {"spec": {"predictor": {"model": {"image": "quay.io/vllm:3"}}}})

    def images() -> list[str]:
        return [pod.spec.containers[0].image for pod in kserve.core.list_namespaced_pod(NAMESPACE).items]

    wait_for("only the newest runs", lambda: images() == ["quay.io/vllm:3"])
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "fails"))
    remove(kserve, SERVICE, "fails")


@pytest.mark.deep
def test_stopped_model_has_no_pods_and_can_continue(kserve: Cluster) -> None:
    stop = f"{GROUP}/stop"
    create(kserve, SERVICE, "stops", predictor())
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "stops"))
    change(kserve, SERVICE, "stops", {"metadata": {"annotations": {stop: "true"}}})
    wait_for("it has stopped", lambda: conditions(kserve, SERVICE, "stops").get("Stopped", ("", ""))[0] == "True")
    wait_for("its Deployment is gone", lambda: deployments(kserve) == [])
    change(kserve, SERVICE, "stops", {"metadata": {"annotations": {stop: "false"}}})
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "stops"))
    remove(kserve, SERVICE, "stops")


@pytest.mark.deep
def test_large_model_is_served_and_read_in_both_versions(kserve: Cluster) -> None:
    model = {"uri": "hf://ibm-granite/granite-3.1-8b", "name": "granite"}
    create(kserve, LLM, "large", {"model": model, "replicas": 2})
    wait_for("it is ready", lambda: is_ready(kserve, LLM, "large"))
    deployment = kserve.apps.read_namespaced_deployment("large-kserve", NAMESPACE)
    assert deployment.status.ready_replicas == 2
    assert kserve.core.read_namespaced_service("large-kserve-workload-svc", NAMESPACE)
    assert read(kserve, LLM, "large", "v1alpha1")["spec"]["model"] == model
    remove(kserve, LLM, "large")


def test_routed_model_is_reached_by_the_labs_gateway(labs: Labs, kserve: Cluster) -> None:
    model = {"uri": "hf://ibm-granite/granite-3.1-8b", "name": "granite"}
    router: dict[str, Any] = {"route": {}, "gateway": {}, "scheduler": {}}
    served = {"annotations": {f"{PREFIX}model": "{name: granite, ttft: 0, itl: 0}"}}
    create(kserve, LLM, "routed", {"model": model, "replicas": 2, "router": router, **served})
    wait_for("it is ready", lambda: is_ready(kserve, LLM, "routed"))
    gateway, url = gateway_url(kserve), address(kserve, LLM, "routed")
    assert url == f"{gateway}/default/routed"
    assert sorted(deployments(kserve)) == ["routed-kserve", "routed-kserve-router-scheduler"]
    pool, lab = "routed-inference-pool", labs.get(NAME)
    wait_for("both pods got requests", lambda: request_status(url) == 200 and pods_with_requests(lab, pool) == 2)
    assert request_status(f"{gateway}/default/nobody") == 404
    # it restarts with its last configuration, without its controller
    assert labs.run("restart", "--name", NAME, "envoy").returncode == 0
    assert request_status(url) == 200
    change(kserve, LLM, "routed", {"spec": {"replicas": 0}})
    wait_for("no pod answers", lambda: request_status(url) == 503)
    remove(kserve, LLM, "routed")
    assert request_status(url) == 404


@pytest.mark.deep
def test_route_without_a_backend_is_reported_and_returns_500(kserve: Cluster) -> None:
    parent = {"name": "kserve-ingress-gateway", "namespace": "kserve"}
    spec = {"parentRefs": [parent], "rules": [{"backendRefs": [{"name": "nobody", "port": 80}]}]}
    where = ("gateway.networking.k8s.io", "v1", NAMESPACE, "httproutes")
    kserve.custom.create_namespaced_custom_object(
        *where,
        {"apiVersion": f"{where[0]}/v1", "kind": "HTTPRoute", "metadata": {"name": "lost"}, "spec": spec},
    )

    def route_conditions() -> list[tuple[str, str, str]]:
        parents = kserve.custom.get_namespaced_custom_object(*where, "lost").get("status", {}).get("parents", [])
        return [(each["type"], each["status"], each["reason"]) for one in parents for each in one["conditions"]]

    wait_for("the route has conditions", route_conditions)
    assert route_conditions() == [("Accepted", "True", "Accepted"), ("ResolvedRefs", "False", "BackendNotFound")]
    wait_for("the gateway answers 500", lambda: request_status(gateway_url(kserve)) == 500)
    kserve.custom.delete_namespaced_custom_object(*where, "lost")
    wait_for("it is gone", lambda: request_status(gateway_url(kserve)) == 404)


@pytest.mark.deep
def test_serving_survives_kills_of_api_server_and_kserve(labs: Labs, kserve: Cluster) -> None:
    create(kserve, SERVICE, "stays", predictor())
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "stays"))
    assert labs.run("restart", "--name", NAME, "kube-apiserver").returncode == 0
    assert labs.run("restart", "--name", NAME, "kserve").returncode == 0
    assert is_ready(kserve, SERVICE, "stays")
    change(kserve, SERVICE, "stays", {"spec": {"predictor": {"minReplicas": 3}}})
    wait_for(
        "there are three",
        lambda: kserve.apps.read_namespaced_deployment("stays-predictor", NAMESPACE).status.replicas == 3,
    )
    assert labs.get(NAME).dead_components() == []
    remove(kserve, SERVICE, "stays")
