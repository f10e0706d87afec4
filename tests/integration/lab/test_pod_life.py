"""Pods behave as their annotations declare, and the cluster is otherwise like any Kubernetes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kubernetes.client import ApiException
from perflab.processes.state import Lab

from .labs import Cluster, wait_for
from .workloads import deployment, job, pod, pytorch_job

NAMESPACE = "default"
PYTORCH = ("kubeflow.org", "v1", NAMESPACE, "pytorchjobs")


def run_job(cluster: Cluster, name: str, annotations: dict[str, str]) -> Any:
    """Submit a Job and return its pod once it has ended."""
    cluster.batch.create_namespaced_job(NAMESPACE, job(name, annotations))
    return wait_for(f"the end of the pod of {name}", lambda: ended_pod(cluster, name))


def ended_pod(cluster: Cluster, job_name: str) -> Any:
    pods = cluster.core.list_namespaced_pod(NAMESPACE, label_selector=f"job-name={job_name}").items
    ended = [item for item in pods if item.status.phase in ("Succeeded", "Failed")]
    return ended[0] if ended else None


def job_condition(cluster: Cluster, name: str, kind: str) -> bool:
    conditions = cluster.batch.read_namespaced_job(name, NAMESPACE).status.conditions or []
    return any(item.type == kind and item.status == "True" for item in conditions)


def terminated(item: Any) -> Any:
    return item.status.container_statuses[0].state.terminated


def test_job_completes(cluster: Cluster) -> None:
    ended = run_job(cluster, "plain", {})
    assert ended.status.phase == "Succeeded"
    assert ended.spec.node_name.startswith("node-000")
    assert terminated(ended).exit_code == 0
    assert {item.type: item.status for item in ended.status.conditions} == {
        "PodReadyToStartContainers": "False",
        "Initialized": "True",
        "Ready": "False",
        "ContainersReady": "False",
        "PodScheduled": "True",
    }
    wait_for("the Job complete", lambda: job_condition(cluster, "plain", "Complete"))


def test_managed_fields_are_recorded_for_applied_objects_only(cluster: Cluster) -> None:
    ended = run_job(cluster, "created", {})
    created = cluster.batch.read_namespaced_job("created", NAMESPACE)
    assert (created.metadata.managed_fields, ended.metadata.managed_fields) == (None, None)
    manifest = {"apiVersion": "batch/v1", "kind": "Job", **job("applied", {})}
    for _ in range(2):
        # the second apply has no conflict with the first
        cluster.batch.patch_namespaced_job(
            "applied", NAMESPACE, manifest, field_manager="tests", _content_type="application/apply-patch+yaml"
        )
    fields = cluster.batch.read_namespaced_job("applied", NAMESPACE).metadata.managed_fields
    assert [each.operation for each in fields if each.manager == "tests"] == ["Apply"]


def test_start_delay_and_duration_are_kept(cluster: Cluster) -> None:
    ended = run_job(cluster, "timed", {"start-delay": "2s", "duration": "3s"})
    scheduled = next(item for item in ended.status.conditions if item.type == "PodScheduled")
    state = terminated(ended)
    # the API's times are whole seconds, rounded down at both ends
    assert (state.started_at - scheduled.last_transition_time).total_seconds() >= 2
    assert (state.finished_at - state.started_at).total_seconds() >= 3
    assert ended.status.start_time == state.started_at


@pytest.mark.parametrize(
    ("name", "annotations", "code", "reason"),
    [
        ("exits-3", {"exit-code": "3"}, 3, "Error"),
        ("out-of-memory", {"reason": "OOMKilled"}, 137, "OOMKilled"),
        ("both", {"exit-code": "42", "reason": "Broken", "duration": "200ms"}, 42, "Broken"),
        ("reason-only", {"reason": "Broken"}, 1, "Broken"),
    ],
)
def test_configured_failure_ends_the_pod_and_its_job(
    cluster: Cluster, name: str, annotations: dict[str, str], code: int, reason: str
) -> None:
    ended = run_job(cluster, name, annotations)
    assert ended.status.phase == "Failed"
    assert (terminated(ended).exit_code, terminated(ended).reason) == (code, reason)
    wait_for("the Job failed", lambda: job_condition(cluster, name, "Failed"))


@pytest.mark.parametrize("annotation", ["start-delay", "duration", "evict-after"])
@pytest.mark.parametrize(("number", "text"), [(0, "1d"), (1, "1e+06s"), (2, "9999999999s")])
def test_pod_with_invalid_duration_fails_and_names_it(
    cluster: Cluster, annotation: str, number: int, text: str
) -> None:
    ended = run_job(cluster, f"invalid-{annotation}-{number}", {annotation: text})
    assert (ended.status.phase, ended.status.reason) == ("Failed", "InvalidDuration")
    assert ended.status.message.startswith(f"lab.psap.perf/{annotation} is {text}, which is not a duration")


def test_configured_eviction_fails_the_pod_with_an_event(cluster: Cluster) -> None:
    ended = run_job(cluster, "evicted", {"evict-after": "500ms"})
    assert (ended.status.phase, ended.status.reason) == ("Failed", "Evicted")
    disruption = next(item for item in ended.status.conditions if item.type == "DisruptionTarget")
    assert disruption.reason == "TerminationByKubelet"
    events = wait_for("the event", lambda: events_of(cluster, ended.metadata.name, "Evicted"))
    assert events[0].type == "Warning"


def events_of(cluster: Cluster, name: str, reason: str) -> list[Any]:
    selector = f"involvedObject.name={name},reason={reason}"
    items: list[Any] = cluster.core.list_namespaced_event(NAMESPACE, field_selector=selector).items
    return items


def read_log(cluster: Cluster, name: str, **options: Any) -> str:
    # read raw: the client would convert the text to "b'…'"
    answer = cluster.core.read_namespaced_pod_log(name, NAMESPACE, _preload_content=False, **options)
    text: str = answer.data.decode()
    return text


def test_log_text_is_served(cluster: Cluster) -> None:
    name = run_job(cluster, "talks", {"log": "epoch 1\nepoch 2"}).metadata.name
    assert read_log(cluster, name) == "epoch 1\nepoch 2\n"
    assert read_log(cluster, name, tail_lines=1) == "epoch 2\n"
    assert read_log(cluster, name, follow=True) == "epoch 1\nepoch 2\n"


def test_pod_waiting_to_start_has_no_log(cluster: Cluster) -> None:
    cluster.core.create_namespaced_pod(NAMESPACE, pod("waits", {"start-delay": "1h"}))
    read = cluster.core.read_namespaced_pod
    wait_for("the pod scheduled", lambda: read("waits", NAMESPACE).spec.node_name)
    with pytest.raises(ApiException, match="waiting to start"):
        read_log(cluster, "waits")


def test_unknown_image_is_not_pulled(cluster: Cluster) -> None:
    manifest = pod("no-image", {})
    manifest["spec"]["containers"][0]["image"] = "registry.invalid/train:1"
    cluster.core.create_namespaced_pod(NAMESPACE, manifest)
    read = cluster.core.read_namespaced_pod
    statuses = wait_for("a status", lambda: read("no-image", NAMESPACE).status.container_statuses)
    assert statuses[0].state.waiting.reason == "ErrImagePull"
    assert read("no-image", NAMESPACE).status.phase == "Pending"
    with pytest.raises(ApiException, match="waiting to start: ErrImagePull"):
        read_log(cluster, "no-image")


def test_pods_that_always_restart_continue_and_become_ready(cluster: Cluster) -> None:
    cluster.apps.create_namespaced_deployment(NAMESPACE, deployment("serves", 3))
    read = cluster.apps.read_namespaced_deployment_status
    wait_for("3 ready replicas", lambda: read("serves", NAMESPACE).status.ready_replicas == 3)
    pods = cluster.core.list_namespaced_pod(NAMESPACE, label_selector="app=serves").items
    assert len({item.status.pod_ip for item in pods}) == 3
    cluster.apps.delete_namespaced_deployment("serves", NAMESPACE)
    listed = cluster.core.list_namespaced_pod
    wait_for("no pod left", lambda: not listed(NAMESPACE, label_selector="app=serves").items)


def test_pod_that_always_restarts_ends_on_request(cluster: Cluster) -> None:
    cluster.core.create_namespaced_pod(NAMESPACE, pod("told", {"duration": "300ms"}, "Always"))
    read = cluster.core.read_namespaced_pod
    wait_for("the end", lambda: read("told", NAMESPACE).status.phase == "Succeeded")


def test_more_gpus_than_a_node_has_are_not_scheduled(cluster: Cluster) -> None:
    cluster.batch.create_namespaced_job(NAMESPACE, job("too-large", {}, gpus=9))
    pods = wait_for(
        "the pod",
        lambda: cluster.core.list_namespaced_pod(NAMESPACE, label_selector="job-name=too-large").items,
    )
    events = wait_for("FailedScheduling", lambda: events_of(cluster, pods[0].metadata.name, "FailedScheduling"))
    assert "Insufficient nvidia.com/gpu" in events[0].message


def pytorch_state(cluster: Cluster, name: str) -> str:
    status = cluster.custom.get_namespaced_custom_object(*PYTORCH, name).get("status", {})
    true = [item["type"] for item in status.get("conditions", []) if item["status"] == "True"]
    return true[-1] if true else ""


@pytest.mark.parametrize(
    ("name", "annotations", "end"), [("trains", {}, "Succeeded"), ("breaks", {"exit-code": "1"}, "Failed")]
)
def test_pytorch_job_completes(cluster: Cluster, name: str, annotations: dict[str, str], end: str) -> None:
    cluster.custom.create_namespaced_custom_object(*PYTORCH, pytorch_job(name, annotations, workers=2))
    wait_for(f"{name} {end}", lambda: pytorch_state(cluster, name) == end)
    label = f"training.kubeflow.org/job-name={name}"
    pods = cluster.core.list_namespaced_pod(NAMESPACE, label_selector=label).items
    assert {item.metadata.name for item in pods} == {f"{name}-master-0", f"{name}-worker-0", f"{name}-worker-1"}


def test_webhook_refuses_an_invalid_pytorch_job(cluster: Cluster) -> None:
    wrong = pytorch_job("wrong", {}, workers=1)
    wrong["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]["name"] = "other"
    with pytest.raises(ApiException, match=r"validator\.pytorchjob.*at least one container with name pytorch"):
        cluster.custom.create_namespaced_custom_object(*PYTORCH, wrong)


def test_cluster_is_marked_as_simulated(cluster: Cluster, lab: Lab) -> None:
    mark = cluster.core.read_namespaced_config_map("perflab", "kube-system").data
    assert (mark["name"], mark["profile"], mark["simulated"]) == ("shared", "kubernetes", "nodes,pods")
    assert mark["real"].split(",") == ["control plane", *lab.options.products]
    assert json.loads(mark["versions"]) == lab.versions
    node = cluster.core.read_node("node-0003")
    assert node.status.node_info.kubelet_version == "v1.36.3+simulated"
    assert node.metadata.annotations["kwok.x-k8s.io/node"] == "fake"


def test_audit_log_records_users_and_requests(cluster: Cluster, lab: Lab) -> None:
    cluster.core.list_namespaced_secret(NAMESPACE)
    lines = (lab.folder / "audit.log").read_text().splitlines()
    seen = {(entry["user"]["username"], entry["verb"]) for entry in map(json.loads, lines)}
    assert ("perflab:admin", "list") in seen
    assert ("system:kube-scheduler", "create") in seen


def test_manually_created_node_becomes_ready(cluster: Cluster) -> None:
    node = {"metadata": {"name": "handmade", "annotations": {"kwok.x-k8s.io/node": "fake"}}}
    cluster.core.create_node(node)
    wait_for("the node ready", lambda: is_ready(cluster.core.read_node("handmade")))
    cluster.core.delete_node("handmade")


def is_ready(node: Any) -> bool:
    return any(item.type == "Ready" and item.status == "True" for item in node.status.conditions or [])
