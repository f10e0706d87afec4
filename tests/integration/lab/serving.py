"""Create, read and query models that KServe serves in a lab."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from perflab.processes.state import Lab

from .labs import Cluster, wait_for
from .workloads import PREFIX

NAMESPACE = "default"
GROUP = "serving.kserve.io"
NAME = "kserve"
SERVICE, RUNTIME, LLM = "inferenceservices", "servingruntimes", "llminferenceservices"
VERSIONS = {SERVICE: "v1beta1", RUNTIME: "v1alpha1", LLM: "v1alpha2"}
KINDS = {SERVICE: "InferenceService", RUNTIME: "ServingRuntime", LLM: "LLMInferenceService"}


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
    """Return the URL of a service, which may be Ready before its Gateway has an address."""
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


def request_status(url: str) -> int:
    """Return the HTTP status of a completion request, successful or not."""
    body = json.dumps({"model": "granite", "prompt": "why", "max_tokens": 2}).encode()
    request = urllib.request.Request(f"{url}/v1/completions", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def pods_with_requests(lab: Lab, pool: str) -> int:
    """Return the number of an InferencePool's pods to which Envoy has sent requests."""
    with urllib.request.urlopen(f"http://127.0.0.1:{lab.ports['envoy-admin']}/clusters", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    counts = [line.split("::") for line in lines if line.startswith(f"inferencepool/{NAMESPACE}/{pool}::127.")]
    return sum(parts[2] == "rq_total" and int(parts[3]) > 0 for parts in counts)
