"""Manifests that the lab's tests submit."""

from __future__ import annotations

from typing import Any

PREFIX = "lab.psap.perf/"


def pod_template(annotations: dict[str, str], restart: str, gpus: int) -> dict[str, Any]:
    container = {"name": "pytorch", "image": "none", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
    return {
        "metadata": {"annotations": {PREFIX + key: value for key, value in annotations.items()}},
        "spec": {"restartPolicy": restart, "containers": [container]},
    }


def job(name: str, annotations: dict[str, str], gpus: int = 1) -> dict[str, Any]:
    template = pod_template(annotations, "Never", gpus)
    return {"metadata": {"name": name}, "spec": {"backoffLimit": 0, "template": template}}


def pod(name: str, annotations: dict[str, str], restart: str = "Never") -> dict[str, Any]:
    template = pod_template(annotations, restart, 0)
    return {**template, "metadata": {**template["metadata"], "name": name}}


def deployment(name: str, replicas: int) -> dict[str, Any]:
    template = pod_template({}, "Always", 0)
    template["metadata"]["labels"] = {"app": name}
    return {
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def pytorch_job(name: str, annotations: dict[str, str], workers: int) -> dict[str, Any]:
    replica = {"restartPolicy": "Never", "template": pod_template(annotations, "Never", 2)}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name},
        "spec": {
            "pytorchReplicaSpecs": {
                "Master": {**replica, "replicas": 1},
                "Worker": {**replica, "replicas": workers},
            }
        },
    }
