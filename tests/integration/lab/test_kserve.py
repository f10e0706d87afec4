"""KServe itself, in a lab: models are served by simulated pods, from their creation to their end."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.client import ApiException, AutoscalingV2Api, NetworkingV1Api
from perflab.processes.state import Lab

from tests.integration.conftest import PROJECT
from tests.integration.conftest import Lab as RunLab
from tests.schemas import check

from .labs import Cluster, Labs, wait_for
from .workloads import PREFIX

NAMESPACE = "default"
GROUP = "serving.kserve.io"
NAME = "kserve"
SERVICE, RUNTIME, LLM = "inferenceservices", "servingruntimes", "llminferenceservices"
VERSIONS = {SERVICE: "v1beta1", RUNTIME: "v1alpha1", LLM: "v1alpha2"}
KINDS = {SERVICE: "InferenceService", RUNTIME: "ServingRuntime", LLM: "LLMInferenceService"}


@pytest.fixture(scope="module")
def kserve(labs: Labs) -> Iterator[Cluster]:
    """A lab of 2 nodes of 8 GPUs with KServe and model servers, and a runtime for models of the format `vllm`."""
    cluster = Cluster.of(labs.up(NAME, "--nodes", "2", "--with", "kserve", "--with", "models"))
    create_runtime(cluster, "vllm")
    yield cluster
    assert labs.run("down", "--name", NAME).returncode == 0


def create(cluster: Cluster, plural: str, name: str, spec: dict[str, Any], **annotations: str) -> None:
    lab = {PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}
    body = {
        "apiVersion": f"{GROUP}/{VERSIONS[plural]}",
        "kind": KINDS[plural],
        "metadata": {"name": name, "annotations": lab},
        "spec": spec,
    }
    cluster.custom.create_namespaced_custom_object(GROUP, VERSIONS[plural], NAMESPACE, plural, body)


def create_runtime(cluster: Cluster, name: str) -> None:
    container = {"name": "kserve-container", "image": "quay.io/vllm:1", "args": ["--model=/mnt/models"]}
    model = {"name": name, "autoSelect": True}
    create(cluster, RUNTIME, name, {"supportedModelFormats": [model], "containers": [container]})


def predictor(model_format: str = "vllm", **more: Any) -> dict[str, Any]:
    model = {
        "modelFormat": {"name": model_format},
        "storageUri": "s3://models/granite",
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }
    return {"predictor": {"model": model, **more}}


def change(cluster: Cluster, plural: str, name: str, body: dict[str, Any]) -> None:
    cluster.custom.patch_namespaced_custom_object(GROUP, VERSIONS[plural], NAMESPACE, plural, name, body)


def read(cluster: Cluster, plural: str, name: str, version: str = "") -> dict[str, Any]:
    found: dict[str, Any] = cluster.custom.get_namespaced_custom_object(
        GROUP, version or VERSIONS[plural], NAMESPACE, plural, name
    )
    return found


def conditions(cluster: Cluster, plural: str, name: str) -> dict[str, tuple[str, str]]:
    found = read(cluster, plural, name).get("status", {}).get("conditions", [])
    return {each["type"]: (each["status"], each.get("reason", "")) for each in found}


def is_ready(cluster: Cluster, plural: str, name: str) -> bool:
    return conditions(cluster, plural, name).get("Ready", ("", ""))[0] == "True"


def address(cluster: Cluster, plural: str, name: str) -> str:
    """The URL of a service, which may be Ready before its Gateway has an address."""
    return str(wait_for("it has an address", lambda: read(cluster, plural, name)["status"].get("url")))


def model_status(cluster: Cluster, name: str) -> dict[str, Any]:
    found: dict[str, Any] = read(cluster, SERVICE, name).get("status", {}).get("modelStatus", {})
    return found


def deployments(cluster: Cluster) -> list[str]:
    return [each.metadata.name for each in cluster.apps.list_namespaced_deployment(NAMESPACE).items]


def remove(cluster: Cluster, plural: str, name: str) -> None:
    cluster.custom.delete_namespaced_custom_object(GROUP, VERSIONS[plural], NAMESPACE, plural, name)
    wait_for(
        f"nothing is left of {name}",
        lambda: not deployments(cluster) and not cluster.core.list_namespaced_pod(NAMESPACE).items,
    )


def gateway_url(cluster: Cluster) -> str:
    return str(cluster.core.read_namespaced_config_map("perflab", "kube-system").data["gateway-url"])


def asked(url: str) -> int:
    """The status of an answer, or of none."""
    body = json.dumps({"model": "granite", "prompt": "why", "max_tokens": 2}).encode()
    request = urllib.request.Request(f"{url}/v1/completions", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def pods_asked(lab: Lab, pool: str) -> int:
    """How many pods of an InferencePool Envoy has sent requests to."""
    with urllib.request.urlopen(f"http://127.0.0.1:{lab.ports['envoy-admin']}/clusters", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    counts = [line.split("::") for line in lines if line.startswith(f"inferencepool/{NAMESPACE}/{pool}::127.")]
    return sum(parts[2] == "rq_total" and int(parts[3]) > 0 for parts in counts)


def test_a_model_is_served_by_what_its_runtime_says(kserve: Cluster) -> None:
    create(kserve, SERVICE, "granite", predictor(minReplicas=2, maxReplicas=4), start_delay="1s")
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "granite"))
    assert read(kserve, SERVICE, "granite")["metadata"]["finalizers"] == ["inferenceservice.finalizers"]
    assert address(kserve, SERVICE, "granite") == "http://granite-default.example.com"
    # the first pod serves before Kubernetes' autoscaler asks for the second
    wait_for("both serve", lambda: model_status(kserve, "granite").get("copies", {}).get("totalCopies") == 2)
    deployment = kserve.apps.read_namespaced_deployment("granite-predictor", NAMESPACE)
    [container] = deployment.spec.template.spec.containers
    assert (container.name, container.image) == ("kserve-container", "quay.io/vllm:1")
    assert container.resources.limits["nvidia.com/gpu"] == "1"
    # the webhook of pods was asked
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


def test_a_model_without_a_runtime_waits_for_one(kserve: Cluster) -> None:
    create(kserve, SERVICE, "waits", predictor("onnx"))
    wait_for("nothing serves it", lambda: model_status(kserve, "waits").get("transitionStatus") == "InvalidSpec")
    assert model_status(kserve, "waits")["lastFailureInfo"]["reason"] == "NoSupportingRuntime"
    assert not is_ready(kserve, SERVICE, "waits")
    assert deployments(kserve) == []
    create_runtime(kserve, "onnx")
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "waits"))
    remove(kserve, SERVICE, "waits")


def test_a_service_that_cannot_be_is_refused(kserve: Cluster) -> None:
    with pytest.raises(ApiException, match="MinReplicas"):
        create(kserve, SERVICE, "wrong", predictor(minReplicas=3, maxReplicas=2))


def test_a_model_whose_pod_fails_is_not_ready_until_it_is_changed(kserve: Cluster) -> None:
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


def test_a_stopped_model_has_no_pods_and_goes_on_when_it_may(kserve: Cluster) -> None:
    stop = f"{GROUP}/stop"
    create(kserve, SERVICE, "stops", predictor())
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "stops"))
    change(kserve, SERVICE, "stops", {"metadata": {"annotations": {stop: "true"}}})
    wait_for("it has stopped", lambda: conditions(kserve, SERVICE, "stops").get("Stopped", ("", ""))[0] == "True")
    wait_for("its Deployment is gone", lambda: deployments(kserve) == [])
    change(kserve, SERVICE, "stops", {"metadata": {"annotations": {stop: "false"}}})
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "stops"))
    remove(kserve, SERVICE, "stops")


def test_a_large_model_is_served_and_read_in_both_versions(kserve: Cluster) -> None:
    model = {"uri": "hf://ibm-granite/granite-3.1-8b", "name": "granite"}
    create(kserve, LLM, "large", {"model": model, "replicas": 2})
    wait_for("it is ready", lambda: is_ready(kserve, LLM, "large"))
    deployment = kserve.apps.read_namespaced_deployment("large-kserve", NAMESPACE)
    assert deployment.status.ready_replicas == 2
    assert kserve.core.read_namespaced_service("large-kserve-workload-svc", NAMESPACE)
    assert read(kserve, LLM, "large", "v1alpha1")["spec"]["model"] == model
    remove(kserve, LLM, "large")


def test_a_routed_model_is_reached_by_the_labs_gateway(labs: Labs, kserve: Cluster) -> None:
    model = {"uri": "hf://ibm-granite/granite-3.1-8b", "name": "granite"}
    router: dict[str, Any] = {"route": {}, "gateway": {}, "scheduler": {}}
    served = {"annotations": {f"{PREFIX}model": "{name: granite, ttft: 0, itl: 0}"}}
    create(kserve, LLM, "routed", {"model": model, "replicas": 2, "router": router, **served})
    wait_for("it is ready", lambda: is_ready(kserve, LLM, "routed"))
    gateway, url = gateway_url(kserve), address(kserve, LLM, "routed")
    assert url == f"{gateway}/default/routed"
    assert sorted(deployments(kserve)) == ["routed-kserve", "routed-kserve-router-scheduler"]
    pool, lab = "routed-inference-pool", labs.get(NAME)
    wait_for("both pods are asked", lambda: asked(url) == 200 and pods_asked(lab, pool) == 2)
    assert asked(f"{gateway}/default/nobody") == 404
    # it comes back with what it was told, without its controller
    assert labs.run("restart", "--name", NAME, "envoy").returncode == 0
    assert asked(url) == 200
    change(kserve, LLM, "routed", {"spec": {"replicas": 0}})
    wait_for("nobody answers", lambda: asked(url) == 503)
    remove(kserve, LLM, "routed")
    assert asked(url) == 404


def test_a_route_to_nothing_is_told_so_and_answered_with_500(kserve: Cluster) -> None:
    parent = {"name": "kserve-ingress-gateway", "namespace": "kserve"}
    spec = {"parentRefs": [parent], "rules": [{"backendRefs": [{"name": "nobody", "port": 80}]}]}
    where = ("gateway.networking.k8s.io", "v1", NAMESPACE, "httproutes")
    kserve.custom.create_namespaced_custom_object(
        *where,
        {"apiVersion": f"{where[0]}/v1", "kind": "HTTPRoute", "metadata": {"name": "lost"}, "spec": spec},
    )

    def said() -> list[tuple[str, str, str]]:
        parents = kserve.custom.get_namespaced_custom_object(*where, "lost").get("status", {}).get("parents", [])
        return [(each["type"], each["status"], each["reason"]) for one in parents for each in one["conditions"]]

    wait_for("it is told", said)
    assert said() == [("Accepted", "True", "Accepted"), ("ResolvedRefs", "False", "BackendNotFound")]
    wait_for("it is answered", lambda: asked(gateway_url(kserve)) == 500)
    kserve.custom.delete_namespaced_custom_object(*where, "lost")
    wait_for("it is gone", lambda: asked(gateway_url(kserve)) == 404)


def test_the_flow_finds_the_declared_latencies_again(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    """The server is never early. How late it may be is the machine's matter, so the upper bounds are wide."""
    settings: dict[str, Any] = {
        "perf_kubeconfig": str(labs.get(NAME).kubeconfig),
        "kserve_annotations": {
            f"{PREFIX}model": "{ttft: 0.2, itl: 0.02, failing_percent: 10}",
            f"{PREFIX}start-delay": "1s",
        },
        "kserve_concurrency": [2, 5, 64],
        "kserve_max_concurrency": {"granite-3b-code-instruct": 32},
        "kserve_max_queries": 20,
        "kserve_max_output_tokens": 10,
        "kserve_load_test_path": str(PROJECT / "tests/data/llm_load_test"),
        "kserve_load_test_python": sys.executable,
        "kserve_query_count": 0,
    }
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    ran = lab.run(tmp_path, "perfdrv", "run", "kserve", "-p", "raw", "-e", json.dumps(settings))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = tmp_path.iterdir()
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    found = {(one["name"], one["labels"].get("load")): one["value"] for one in kpis}
    assert {load for name, load in found if name == "ttft_p50"} == {"2 users", "5 users"}
    for users in ("2 users", "5 users"):
        assert found["requests_failed", users] == 2
        # the clocks may differ by some µs
        assert 0.199 <= found["ttft_p50", users] < 2.0
        assert 0.379 <= found["request_latency_p50", users] < 5.0
        assert found["itl_p50", users] == pytest.approx(0.02, rel=0.5)
    (path,) = run.rglob("model_start.json")
    start = json.loads(path.read_text())
    check(start)
    # the lab has no kubelet that pulls images
    assert {"pod created", "scheduled", "container started", "model loaded", "ready"} <= {
        step["step"] for step in start["steps"]
    }
    seen = {step["step"]: step["end_s"] - start["seen"][0]["begin_s"] for step in start["seen"]}
    assert found["time_to_ready", None] == pytest.approx(seen["ready"], abs=0.002)
    # the pod takes a second from its node on, and the command watches by then
    assert seen["model loaded"] >= 1
    # no answer was asked for
    assert found["time_to_first_answer", None] is None
    assert found["model_load_time", None] is not None
    page = (run / "report/index.html").read_text()
    assert "Steps of the start" in page
    assert "granite-3b-code-instruct" in page
    assert "Internal Server Error" in page
    with pytest.raises(ApiException, match="not found"):
        kserve.custom.get_namespaced_custom_object(
            GROUP, VERSIONS[SERVICE], "psap-perf-kserve", SERVICE, "granite-3b-code-instruct"
        )


def test_users_deploy_models_at_once_and_one_that_cannot_stops_no_other(
    labs: Labs, kserve: Cluster, tmp_path: Path
) -> None:
    """The lab has two nodes of 8 GPUs: one of three users finds none."""
    settings: dict[str, Any] = {
        "perf_kubeconfig": str(labs.get(NAME).kubeconfig),
        "kserve_mode": "scale",
        "kserve_users": 3,
        "kserve_models_per_user": 1,
        "kserve_model_name": "phi-2",
        "kserve_models": {"phi-2": {"vllm": {"gpus": 8}}},
        "kserve_annotations": {f"{PREFIX}model": "{ttft: 0.05, itl: 0.005}"},
        "kserve_query_count": 1,
        "kserve_schedule_timeout": "15s",
        # what it begins with is served by then
        "kserve_sleep_factor": 3,
    }
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    ran = lab.run(tmp_path, "perfdrv", "run", "kserve", "-p", "raw", "-e", json.dumps(settings))
    assert ran.returncode == 1, ran.stdout + ran.stderr
    said = ran.stdout + ran.stderr
    # on a slow machine another one may be the last
    assert re.search(r"Pod objects in psap-perf-kserve-u\d .*within 15 s: 0 of 1 there; phi-2-", said), said
    assert "not scheduled: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu" in said
    (run,) = tmp_path.iterdir()
    (path,) = run.rglob("kserve_scale.json")
    check(json.loads(path.read_text()))
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    # its models' starts are parts of it
    assert {Path(one["labels"]["recording"]).name for one in kpis} == {path.parent.name}
    found = {one["name"]: one["value"] for one in kpis}
    assert found["models_served_ratio"] == pytest.approx(2 / 3)
    assert found["users_served_ratio"] == pytest.approx(2 / 3)
    assert 0 < found["time_to_ready_p50"] < found["time_to_first_answer_max"] < found["total_time"]
    for user in range(3):
        left = kserve.custom.list_namespaced_custom_object(
            GROUP, VERSIONS[SERVICE], f"psap-perf-kserve-u{user}", SERVICE
        )
        assert left["items"] == []


def together(lab: Lab, **settings: Any) -> dict[str, Any]:
    """Settings of two models that are served and loaded at the same time, for a second each time."""
    return {
        "perf_kubeconfig": str(lab.kubeconfig),
        "kserve_served_models": ["phi-2", "granite-3b-code-instruct"],
        "kserve_annotations": {f"{PREFIX}model": "{ttft: 0.05, itl: 0.005}"},
        "kserve_concurrency": [2],
        "kserve_duration": 1,
        "kserve_max_queries": 10,
        "kserve_max_output_tokens": 5,
        "kserve_load_test_path": str(PROJECT / "tests/data/llm_load_test"),
        "kserve_load_test_python": sys.executable,
        "kserve_query_count": 1,
        **settings,
    }


def test_models_are_loaded_together_and_then_each_alone(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    words = ("-p", "raw", "-p", "e2e_multi", "-e", json.dumps(together(labs.get(NAME))))
    ran = lab.run(tmp_path, "perfdrv", "run", "kserve", *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = tmp_path.iterdir()
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    loads = [one for one in kpis if one["name"] == "ttft_p50"]
    assert sorted((one["labels"]["phase"], one["labels"]["model"]) for one in loads) == [
        (phase, model) for phase in ("alone", "together") for model in ("granite-3b-code-instruct", "phi-2")
    ]
    assert all(0.049 <= one["value"] < 2 for one in loads)
    for plural in (SERVICE, RUNTIME):
        left = kserve.custom.list_namespaced_custom_object(GROUP, VERSIONS[plural], "psap-perf-kserve", plural)
        assert left["items"] == []


def test_models_are_loaded_again_and_again_until_their_time_is_over(
    labs: Labs, kserve: Cluster, tmp_path: Path
) -> None:
    """A load takes a second and rests for four: three begin within ten seconds."""
    settings = together(labs.get(NAME), kserve_mode="longevity", kserve_total_duration=10, kserve_sleep_interval=4)
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    ran = lab.run(tmp_path, "perfdrv", "run", "kserve", "-p", "raw", "-e", json.dumps(settings))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = tmp_path.iterdir()
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    rounds = [one["labels"] for one in kpis if one["name"] == "ttft_p50"]
    assert sorted((each["model"], each["round"]) for each in rounds) == [
        (model, number) for model in ("granite-3b-code-instruct", "phi-2") for number in ("1", "2", "3")
    ]
    assert "Repeated loads over time" in (run / "report/index.html").read_text()


def answered(served: str) -> float:
    """How many requests the lab's model servers have answered, of all models."""
    with urllib.request.urlopen(f"{served}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("vllm:request_success_total"))


@pytest.mark.parametrize("flow", ["kserve", "llm_d"])
def test_in_check_mode_nothing_is_served(labs: Labs, kserve: Cluster, tmp_path: Path, flow: str) -> None:
    lab, namespace = RunLab(NAME, labs.get(NAME).kubeconfig), "check-mode"
    settings = {"perf_kubeconfig": str(lab.kubeconfig), f"{flow}_namespace": namespace}
    ran = lab.run(tmp_path, "perfdrv", "run", flow, "--check", "-e", json.dumps(settings))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert namespace not in [each.metadata.name for each in kserve.core.list_namespace().items]


def test_a_model_that_vanishes_under_load_fails_the_run_and_is_told_in_the_report(
    labs: Labs, kserve: Cluster, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {
        "perf_kubeconfig": str(labs.get(NAME).kubeconfig),
        "kserve_model_name": "phi-2",
        "kserve_annotations": {f"{PREFIX}model": "{ttft: 0.1, itl: 0.01}"},
        "kserve_concurrency": [2],
        # more than half a minute of answers
        "kserve_max_queries": 400,
        "kserve_max_output_tokens": 10,
        "kserve_load_test_path": str(PROJECT / "tests/data/llm_load_test"),
        "kserve_load_test_python": sys.executable,
        "kserve_query_count": 1,
        "kserve_capture_state": False,
    }
    served = kserve.core.read_namespaced_config_map("perflab", "kube-system").data["models-url"]
    before = answered(served)
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    running = lab.start(tmp_path, "perfdrv", "run", "kserve", "-p", "raw", "-e", json.dumps(settings))
    wait_for("it is under load", lambda: answered(served) > before + 10)
    kserve.custom.delete_namespaced_custom_object(GROUP, VERSIONS[SERVICE], "psap-perf-kserve", SERVICE, "phi-2")
    said, _ = running.communicate()
    assert running.returncode == 3, said
    told = "there is no InferenceService psap-perf-kserve/phi-2"
    assert told in said
    check_told(tmp_path, told, "503, message='Service Unavailable'")
    for plural in (SERVICE, RUNTIME):
        left = kserve.custom.list_namespaced_custom_object(GROUP, VERSIONS[plural], "psap-perf-kserve", plural)
        assert left["items"] == []


def check_told(runs: Path, told: str, reason: str) -> None:
    """Some requests failed for a *reason*, and the cell did, as it was *told*."""
    (run,) = runs.iterdir()
    (cell,) = run.glob("*__cell__0/cell.json")
    assert told in json.loads(cell.read_text())["error"]
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    found = {one["name"]: one["value"] for one in kpis}
    assert 0 < found["requests_failed_ratio"] < 1
    page = html.unescape((run / "report/index.html").read_text())
    assert "Why requests failed" in page
    assert reason in page


def llm_d(lab: Lab, tmp_path: Path, **settings: Any) -> dict[str, Any]:
    """Settings of the flow with a client of the tests in place of guidellm."""
    program = tmp_path / "guidellm"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {PROJECT / "tests/data/guidellm/guidellm.py"} "$@"\n')
    program.chmod(0o755)
    return {
        "perf_kubeconfig": str(lab.kubeconfig),
        "llm_d_model_uri": "hf://facebook/opt-125m",
        "llm_d_model_name": "opt",
        "llm_d_gateway_class": "lab",
        "llm_d_gateway_namespace": NAMESPACE,
        "llm_d_rate": [2],
        "llm_d_guidellm_program": str(program),
        **settings,
    }


@pytest.mark.deep
def test_a_gateway_that_vanishes_under_load_fails_the_run_and_is_told_in_the_report(
    labs: Labs, kserve: Cluster, tmp_path: Path
) -> None:
    lab = labs.get(NAME)
    settings = llm_d(
        lab,
        tmp_path,
        llm_d_flavor="intelligentrouting-x2",
        llm_d_annotations={f"{PREFIX}model": "{name: opt, ttft: 0.1, itl: 0.01}"},
        # more than half a minute of answers
        llm_d_max_requests=400,
        llm_d_capture_state=False,
    )
    served = kserve.core.read_namespaced_config_map("perflab", "kube-system").data["models-url"]
    before, runs = answered(served), tmp_path / "runs"
    running = RunLab(NAME, lab.kubeconfig).start(runs, "perfdrv", "run", "llm_d", "-e", json.dumps(settings))
    wait_for("it is under load", lambda: answered(served) > before + 10)
    os.kill(lab.pids["envoy"].pid, signal.SIGKILL)
    said, _ = running.communicate()
    assert labs.run("restart", "--name", NAME, "envoy").returncode == 0
    assert running.returncode == 1, said
    told = f"{gateway_url(kserve)}/psap-perf-llm-d/llm-d does not answer: [Errno"
    assert told in said
    check_told(runs, told, "Cannot connect to host")


def test_each_flavor_of_llm_d_is_a_cell(labs: Labs, kserve: Cluster, tmp_path: Path) -> None:
    settings = llm_d(
        labs.get(NAME),
        tmp_path,
        llm_d_flavor=["simple-x2", "intelligentrouting-x2", "pd-tp2-px3"],
        llm_d_annotations={f"{PREFIX}model": "{name: opt, ttft: 0.05, itl: 0.005}"},
        llm_d_preload_images=["quay.io/vllm:1"],
        llm_d_max_requests=10,
    )
    lab, runs = RunLab(NAME, labs.get(NAME).kubeconfig), tmp_path / "runs"
    ran = lab.run(runs, "perfdrv", "run", "llm_d", "-e", json.dumps(settings))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = runs.iterdir()
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    loads = [one["labels"] for one in kpis if one["name"] == "ttft_p50"]
    assert [each["llm_d_flavor"] for each in loads] == ["simple-x2", "intelligentrouting-x2", "pd-tp2-px3"]
    assert [each["flavor"] for each in loads] == ["simple-x2", "intelligentrouting-x2", "pd-tp2-px3"]
    # through the gateway, which is late as the machine has it
    assert [one["value"] >= 0.049 for one in kpis if one["name"] == "ttft_p50"] == [True] * 3
    assert [path.name for path in run.glob("*prepare*/**/*__cluster__preload_image")] != []
    answered = [one["value"] for one in kpis if one["name"] == "time_to_first_answer"]
    assert len(answered) == 3
    assert min(answered) > 0
    captured = run.glob("*__cell__*/*__llmd__capture_isvc_state/artifacts/deployment.yml")
    deployed = [list(yaml.safe_load_all(path.read_text())) for path in sorted(captured)]
    assert [{each["metadata"]["name"]: each["spec"]["replicas"] for each in cell} for cell in deployed] == [
        {"llm-d-kserve": 2},
        {"llm-d-kserve": 2, "llm-d-kserve-router-scheduler": 1},
        {"llm-d-kserve": 1, "llm-d-kserve-prefill": 3, "llm-d-kserve-router-scheduler": 1},
    ]
    with pytest.raises(ApiException, match="not found"):
        kserve.custom.get_namespaced_custom_object(GROUP, VERSIONS[LLM], "psap-perf-llm-d", LLM, "llm-d")


def test_llm_d_reads_the_model_from_a_claim_that_it_is_downloaded_to_once(
    labs: Labs, kserve: Cluster, tmp_path: Path
) -> None:
    """The pod that downloads is simulated, as the model's are: what is in the claim is not looked at."""
    settings = llm_d(
        labs.get(NAME),
        tmp_path,
        llm_d_flavor="simple",
        llm_d_annotations={f"{PREFIX}model": "{name: opt, ttft: 0.05, itl: 0.005}"},
        llm_d_claim="models",
        llm_d_max_requests=2,
    )
    lab, claims = RunLab(NAME, labs.get(NAME).kubeconfig), kserve.core
    downloads, runs = [], [tmp_path / "first", tmp_path / "again"]
    for folder in runs:
        ran = lab.run(folder, "perfdrv", "run", "llm_d", "-e", json.dumps(settings))
        assert ran.returncode == 0, ran.stdout + ran.stderr
        (command,) = folder.glob("*/*prepare*/**/*__storage__download_to_pvc")
        downloads.append([path.name for path in command.glob("src/pod_*")])
        (captured,) = folder.rglob("*__llmd__capture_isvc_state/artifacts/llminferenceservice.yml")
        assert yaml.safe_load(captured.read_text())["spec"]["model"]["uri"] == "pvc://models/facebook/opt-125m"
        (captured,) = folder.rglob("*__llmd__capture_isvc_state/artifacts/deployment.yml")
        volumes = yaml.safe_load(captured.read_text())["spec"]["template"]["spec"]["volumes"]
        mounted = [each["persistentVolumeClaim"] for each in volumes if "persistentVolumeClaim" in each]
        assert mounted == [{"claimName": "models"}]
    assert [len(pods) for pods in downloads] == [1, 0]
    assert "data.psap.perf/facebook.opt-125m" in (
        claims.read_namespaced_persistent_volume_claim("models", "psap-perf-llm-d").metadata.labels
    )
    claims.delete_namespaced_persistent_volume_claim("models", "psap-perf-llm-d")


@pytest.mark.deep
def test_guidellm_itself_finds_the_declared_latencies_again(
    labs: Labs, kserve: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One replica that answers 4 requests at a time, with 100 ms and 10 ms: of 8, half wait for the others."""
    create(kserve, SERVICE, "loaded", predictor(), model="{name: opt, ttft: 0.1, itl: 0.01, concurrency: 4}")
    wait_for("it is ready", lambda: is_ready(kserve, SERVICE, "loaded"))
    told = kserve.core.read_namespaced_config_map("perflab", "kube-system").data
    programs, tokenizer = PROJECT / "build/guidellm/bin", tmp_path / "tokenizer"
    subprocess.run([programs / "python", PROJECT / "tests/tokenizer.py", tokenizer], check=True)
    arguments = {
        "endpoint-url": f"{told['models-url']}/{NAMESPACE}/loaded",
        "namespace": NAMESPACE,
        "name": "load",
        "program": str(programs / "guidellm"),
        "version": "0.8.1",
        "model": "opt",
        "rate-type": "concurrent",
        "rate": "[1, 4, 8]",
        "max-seconds": "8",
        "processor": str(tokenizer),
        "data": "kind=synthetic_text,prompt_tokens=32,output_tokens=10",
    }
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("KUBECONFIG", str(labs.get(NAME).kubeconfig))
    words = [word for name, value in arguments.items() for word in (f"--{name}", value)]
    lab = RunLab(NAME, labs.get(NAME).kubeconfig)
    runs = tmp_path / "runs"
    ran = lab.run(runs, "perfdrv", "toolbox", "llmd", "run-guidellm-benchmark", *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (run,) = runs.iterdir()
    reported = lab.run(runs, "perfanalysis", "report", str(run))
    assert reported.returncode == 0, reported.stdout + reported.stderr
    kpis = json.loads((run / "report/kpis.json").read_text())["kpis"]
    found = {(one["name"], one["labels"]["load"]): one["value"] for one in kpis}
    for load in ("1 stream", "4 streams", "8 streams"):
        assert found["requests_failed", load] == 0
        assert found["itl_p50", load] == pytest.approx(0.01, rel=0.5)
    assert 0.099 <= found["ttft_p50", "1 stream"] < 1.0
    # those before it take 190 ms
    assert found["ttft_p50", "8 streams"] >= 0.2
    remove(kserve, SERVICE, "loaded")


def test_it_goes_on_after_the_api_server_and_kserve_were_killed(labs: Labs, kserve: Cluster) -> None:
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
