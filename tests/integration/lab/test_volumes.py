"""Claims are bound, after the configured delay, and volumes are deleted with their claims."""

from __future__ import annotations

from typing import Any

from .labs import Cluster, wait_for
from .workloads import job

NAMESPACE = "default"
DELAY = "lab.psap.perf/bind-delay"


def claim(name: str, annotations: dict[str, str]) -> dict[str, Any]:
    return {"metadata": {"name": name, "annotations": annotations}, "spec": claim_spec()}


def claim_spec() -> dict[str, Any]:
    return {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def job_with_volume(name: str, source: dict[str, Any]) -> dict[str, Any]:
    manifest = job(name, {"duration": "1h"})
    manifest["spec"]["template"]["spec"]["volumes"] = [{"name": "data", **source}]
    return manifest


def phase(cluster: Cluster, name: str) -> str:
    return str(cluster.core.read_namespaced_persistent_volume_claim(name, NAMESPACE).status.phase)


def volume_of(cluster: Cluster, name: str) -> Any:
    wait_for(f"{name} bound", lambda: phase(cluster, name) == "Bound")
    bound = cluster.core.read_namespaced_persistent_volume_claim(name, NAMESPACE)
    return cluster.core.read_persistent_volume(bound.spec.volume_name)


def volumes(cluster: Cluster) -> set[str]:
    return {item.metadata.name for item in cluster.core.list_persistent_volume().items}


def test_ephemeral_volume_lives_with_its_pod(cluster: Cluster) -> None:
    source = {"ephemeral": {"volumeClaimTemplate": {"spec": claim_spec()}}}
    cluster.batch.create_namespaced_job(NAMESPACE, job_with_volume("scratch", source))
    list_pods = cluster.core.list_namespaced_pod

    def running() -> list[Any]:
        pods = list_pods(NAMESPACE, label_selector="job-name=scratch").items
        return [item for item in pods if item.status.phase == "Running"]

    pod = wait_for("the pod runs", running)[0]
    volume = volume_of(cluster, f"{pod.metadata.name}-data")
    assert volume.metadata.annotations["lab.psap.perf/emulated"] == "volumes"
    assert volume.spec.capacity == {"storage": "1Gi"}
    selector = f"involvedObject.name={pod.metadata.name}-data"
    events = cluster.core.list_namespaced_event(NAMESPACE, field_selector=selector).items
    assert {"ExternalProvisioning", "ProvisioningSucceeded"} <= {item.reason for item in events}
    cluster.batch.delete_namespaced_job("scratch", NAMESPACE, propagation_policy="Background")
    wait_for("the volume is gone", lambda: volume.metadata.name not in volumes(cluster))


def test_claim_waits_for_its_pod_and_then_for_its_delay(cluster: Cluster) -> None:
    cluster.core.create_namespaced_persistent_volume_claim(NAMESPACE, claim("slow", {DELAY: "2s"}))
    cluster.core.create_namespaced_persistent_volume_claim(NAMESPACE, claim("unused", {}))
    source = {"persistentVolumeClaim": {"claimName": "slow"}}
    cluster.batch.create_namespaced_job(NAMESPACE, job_with_volume("reads-slow", source))
    made = volume_of(cluster, "slow").metadata.creation_timestamp
    pods = cluster.core.list_namespaced_pod(NAMESPACE, label_selector="job-name=reads-slow").items
    # both ends are in whole seconds
    assert (made - pods[0].metadata.creation_timestamp).total_seconds() >= 2
    assert phase(cluster, "unused") == "Pending"
    cluster.batch.delete_namespaced_job("reads-slow", NAMESPACE, propagation_policy="Background")


def test_storage_class_can_bind_immediately_and_set_the_delay(cluster: Cluster) -> None:
    body = {
        "metadata": {"name": "eager", "annotations": {DELAY: "1s"}},
        "provisioner": "lab.psap.perf/volumes",
        "reclaimPolicy": "Retain",
    }
    cluster.custom.create_cluster_custom_object("storage.k8s.io", "v1", "storageclasses", body)
    manifest = claim("at-once", {})
    manifest["spec"]["storageClassName"] = "eager"
    cluster.core.create_namespaced_persistent_volume_claim(NAMESPACE, manifest)
    volume = volume_of(cluster, "at-once")
    asked = cluster.core.read_namespaced_persistent_volume_claim("at-once", NAMESPACE).metadata.creation_timestamp
    assert (volume.metadata.creation_timestamp - asked).total_seconds() >= 1
    cluster.core.delete_namespaced_persistent_volume_claim("at-once", NAMESPACE)
    read = cluster.core.read_persistent_volume
    wait_for("the volume is kept", lambda: read(volume.metadata.name).status.phase == "Released")
