"""Kueue itself, in a lab: Jobs wait in its queues, are admitted in order, and make room for others."""

from __future__ import annotations

import json
import re
import urllib.request
from functools import partial
from typing import Any

import pytest
from kubernetes.client import ApiException
from perflab.processes.state import Lab

from . import test_ray
from .labs import Cluster, Labs, wait_for
from .workloads import job, pytorch_job

NAMESPACE = "default"
GROUP, VERSION = "kueue.x-k8s.io", "v1beta1"
QUEUE_LABEL = f"{GROUP}/queue-name"
GPUS = 4


@pytest.fixture(scope="module")
def kueue(queues_lab: Lab) -> Cluster:
    """Create the queue `local` with a quota of 4 GPUs."""
    cluster = Cluster.of(queues_lab)
    create(cluster, "resourceflavors", "ResourceFlavor", "plain", {"nodeLabels": {"kubernetes.io/arch": "amd64"}})
    make_queue(cluster, "local")
    for name, value in (("low", 1), ("high", 100)):
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "WorkloadPriorityClass", "metadata": {"name": name}}
        cluster.custom.create_cluster_custom_object(GROUP, VERSION, "workloadpriorityclasses", {**body, "value": value})
    return cluster


def create(cluster: Cluster, plural: str, kind: str, name: str, spec: dict[str, Any]) -> None:
    body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, "metadata": {"name": name}, "spec": spec}
    cluster.custom.create_cluster_custom_object(GROUP, VERSION, plural, body)


def make_queue(cluster: Cluster, name: str, flavor: str = "plain", quota: int = GPUS, **more: Any) -> None:
    """Create a ClusterQueue and a LocalQueue of this name."""
    resources = [{"name": "nvidia.com/gpu", "nominalQuota": quota}]
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": flavor, "resources": resources}]}
    spec = {
        "namespaceSelector": {},
        "resourceGroups": [group],
        "preemption": {"withinClusterQueue": "LowerPriority"},
        **more,
    }
    create(cluster, "clusterqueues", "ClusterQueue", name, spec)
    local = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "LocalQueue",
        "metadata": {"name": name},
        "spec": {"clusterQueue": name},
    }
    cluster.custom.create_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "localqueues", local)


def labels(queue: str, priority: str | None) -> dict[str, str]:
    own = {QUEUE_LABEL: queue, "psap.perf/run": "r"}
    return {**own, f"{GROUP}/priority-class": priority} if priority else own


def submit(
    cluster: Cluster, name: str, gpus: int, duration: str, priority: str | None = None, queue: str = "local"
) -> None:
    manifest = job(name, {"duration": duration}, gpus)
    manifest["metadata"]["labels"] = labels(queue, priority)
    cluster.batch.create_namespaced_job(NAMESPACE, manifest)


def workload_of(cluster: Cluster, name: str) -> dict[str, Any]:
    listed = cluster.custom.list_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "workloads")["items"]
    found = [each for each in listed if each["metadata"]["ownerReferences"][0]["name"] == name]
    return found[0] if found else {}


def conditions(cluster: Cluster, name: str) -> dict[str, tuple[str, str]]:
    known = workload_of(cluster, name).get("status", {}).get("conditions", [])
    return {item["type"]: (item["status"], item["reason"]) for item in known}


def is_true(cluster: Cluster, name: str, kind: str) -> bool:
    return conditions(cluster, name).get(kind, ("",))[0] == "True"


def has_none(cluster: Cluster, name: str) -> bool:
    return not workload_of(cluster, name)


def delete(cluster: Cluster, *names: str) -> None:
    for name in names:
        cluster.batch.delete_namespaced_job(name, NAMESPACE, propagation_policy="Background")
        wait_for(f"no Workload of {name}", partial(has_none, cluster, name))


def test_queued_job_is_admitted_and_ends(kueue: Cluster) -> None:
    submit(kueue, "one", 1, "1s", "low")
    wait_for("it is finished", lambda: is_true(kueue, "one", "Finished"))
    assert conditions(kueue, "one") == {
        "QuotaReserved": ("True", "QuotaReserved"),
        "Admitted": ("True", "Admitted"),
        "Finished": ("True", "Succeeded"),
    }
    workload = workload_of(kueue, "one")
    assert (workload["spec"]["queueName"], workload["spec"]["priority"]) == ("local", 1)
    [assignment] = workload["status"]["admission"]["podSetAssignments"]
    assert assignment["flavors"] == {"nvidia.com/gpu": "plain"}
    assert assignment["resourceUsage"] == {"nvidia.com/gpu": "1"}
    # the pods have the flavor's node labels
    finished = kueue.batch.read_namespaced_job("one", NAMESPACE)
    assert finished.spec.template.spec.node_selector == {"kubernetes.io/arch": "amd64"}
    delete(kueue, "one")


def test_job_above_the_quota_waits_suspended(kueue: Cluster) -> None:
    submit(kueue, "first", 3, "1h")
    wait_for("the first is admitted", lambda: is_true(kueue, "first", "Admitted"))
    submit(kueue, "second", 2, "1s")
    wait_for("the second waits", lambda: conditions(kueue, "second").get("QuotaReserved") == ("False", "Pending"))
    assert kueue.batch.read_namespaced_job("second", NAMESPACE).spec.suspend
    assert not kueue.core.list_namespaced_pod(NAMESPACE, label_selector="job-name=second").items
    assert not is_true(kueue, "first", "Finished")
    delete(kueue, "first")
    wait_for("the second is finished", lambda: is_true(kueue, "second", "Finished"))
    delete(kueue, "second")


def test_lower_priority_is_preempted_and_returns(kueue: Cluster) -> None:
    submit(kueue, "victim", 4, "1h", "low")
    pods = kueue.core.list_namespaced_pod
    wait_for("the victim runs", lambda: pods(NAMESPACE, label_selector="job-name=victim").items)
    submit(kueue, "winner", 2, "1s", "high")
    wait_for("the victim is evicted", lambda: is_true(kueue, "victim", "Evicted"))
    assert conditions(kueue, "victim")["Evicted"] == ("True", "Preempted")
    wait_for("the winner is finished", lambda: is_true(kueue, "winner", "Finished"))
    wait_for(
        "the victim is admitted again",
        lambda: is_true(kueue, "victim", "Admitted") and not is_true(kueue, "victim", "Evicted"),
    )
    assert is_true(kueue, "victim", "Requeued")
    wait_for(
        "the victim runs again",
        lambda: [
            pod
            for pod in pods(NAMESPACE, label_selector="job-name=victim").items
            if not pod.metadata.deletion_timestamp
        ],
    )
    name = workload_of(kueue, "victim")["metadata"]["name"]
    selector = f"involvedObject.name={name},reason=Preempted"
    [event] = kueue.core.list_namespaced_event(NAMESPACE, field_selector=selector).items
    assert workload_of(kueue, "winner")["metadata"]["uid"] in event.message
    delete(kueue, "victim", "winner")


def test_queues_of_a_cohort_lend_unused_quota_and_reclaim_it(kueue: Cluster) -> None:
    for name in ("lends", "borrows"):
        make_queue(kueue, name, cohort="both", preemption={"reclaimWithinCohort": "Any"})
    submit(kueue, "large", 2 * GPUS, "1h", queue="borrows")
    wait_for("it is admitted beyond its own quota", lambda: is_true(kueue, "large", "Admitted"))
    submit(kueue, "small", 1, "1s", queue="lends")
    wait_for("the lent quota is reclaimed", lambda: is_true(kueue, "large", "Preempted"))
    assert conditions(kueue, "large")["Preempted"] == ("True", "InCohortReclamation")
    wait_for("the owner's is finished", lambda: is_true(kueue, "small", "Finished"))
    wait_for(
        "the borrower is admitted again",
        lambda: is_true(kueue, "large", "Admitted") and not is_true(kueue, "large", "Evicted"),
    )
    delete(kueue, "large", "small")


def test_pods_of_an_indexed_job_are_admitted_together(kueue: Cluster) -> None:
    submit(kueue, "before", 2, "1h")
    wait_for("the one before is admitted", lambda: is_true(kueue, "before", "Admitted"))
    manifest = job("indexed", {"duration": "1s"})
    manifest["metadata"]["labels"] = labels("local", None)
    manifest["spec"] |= {"completionMode": "Indexed", "completions": 3, "parallelism": 3}
    kueue.batch.create_namespaced_job(NAMESPACE, manifest)
    # one more of its pods than fit
    wait_for("all its pods wait", lambda: conditions(kueue, "indexed").get("QuotaReserved") == ("False", "Pending"))
    assert not kueue.core.list_namespaced_pod(NAMESPACE, label_selector="job-name=indexed").items
    delete(kueue, "before")
    wait_for("it is finished", lambda: is_true(kueue, "indexed", "Finished"))
    assert [each["count"] for each in workload_of(kueue, "indexed")["spec"]["podSets"]] == [3]
    assert kueue.batch.read_namespaced_job("indexed", NAMESPACE).status.completed_indexes == "0-2"
    delete(kueue, "indexed")


def test_metrics_of_kueue_are_at_the_labs_address(kueue: Cluster) -> None:
    submit(kueue, "counted", 1, "1s")
    wait_for("it is finished", lambda: is_true(kueue, "counted", "Finished"))
    mark = kueue.core.read_namespaced_config_map("perflab", "kube-system").data
    with urllib.request.urlopen(json.loads(mark["metrics-endpoints"])["kueue"]) as answer:
        page = answer.read().decode()
    assert re.search(r'^kueue_admitted_workloads_total\{cluster_queue="local"[^}]*\} [1-9]', page, re.MULTILINE)
    delete(kueue, "counted")


@pytest.mark.deep
def test_fair_sharing_weights_divide_lent_quota(labs: Labs) -> None:
    lab = labs.up("fair", "--nodes", "2", "--with", "kueue", "--fair-sharing")
    try:
        cluster = Cluster.of(lab)
        create(cluster, "resourceflavors", "ResourceFlavor", "plain", {})
        # the cohort lends the 12 GPUs of a third queue: 1 part to the first, 2 parts to the second
        make_queue(cluster, "owner", quota=12, cohort="all")
        for name, weight in (("first", 1), ("second", 2)):
            more: dict[str, Any] = {"fairSharing": {"weight": weight}, "preemption": {"reclaimWithinCohort": "Any"}}
            make_queue(cluster, name, quota=0, cohort="all", **more)

        def held(queue: str) -> int:
            status = cluster.custom.get_cluster_custom_object(GROUP, VERSION, "clusterqueues", queue).get("status", {})
            return int(status.get("admittedWorkloads", 0))

        for number in range(12):
            submit(cluster, f"first-{number}", 1, "1h", queue="first")
        wait_for("the first has all while it is alone", lambda: held("first") == 12)
        for number in range(12):
            submit(cluster, f"second-{number}", 1, "1h", queue="second")
        wait_for("one part and two parts", lambda: (held("first"), held("second")) == (4, 8))
        reasons = [conditions(cluster, f"first-{number}").get("Preempted", ("", ""))[1] for number in range(12)]
        assert sorted(reasons) == [""] * 4 + ["InCohortFairSharing"] * 8
    finally:
        assert labs.run("down", "--name", lab.name).returncode == 0


@pytest.mark.deep
def test_workload_without_ready_pods_is_evicted_in_time(labs: Labs) -> None:
    lab = labs.up("ready", "--nodes", "2", "--with", "kueue", "--pods-ready-timeout", "2")
    try:
        cluster = Cluster.of(lab)
        create(cluster, "resourceflavors", "ResourceFlavor", "plain", {})
        make_queue(cluster, "local")
        manifest = job("late", {"start-delay": "1h"}, GPUS)
        manifest["metadata"]["labels"] = labels("local", None)
        cluster.batch.create_namespaced_job(NAMESPACE, manifest)
        submit(cluster, "next", GPUS, "1s")
        wait_for("the next is finished", lambda: is_true(cluster, "next", "Finished"))
        name = workload_of(cluster, "late")["metadata"]["name"]
        selector = f"involvedObject.name={name},reason=EvictedDueToPodsReadyTimeout"
        assert cluster.core.list_namespaced_event(NAMESPACE, field_selector=selector).items
    finally:
        assert labs.run("down", "--name", lab.name).returncode == 0


def test_kueue_webhook_refuses_invalid_objects(kueue: Cluster) -> None:
    with pytest.raises(ApiException) as refused:
        make_queue(
            kueue,
            "negative",
            preemption={"reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "LowerPriority"}},
        )
    assert refused.value.status == 422
    assert "reclaimWithinCohort" in refused.value.body


def test_pytorch_job_is_queued(kueue: Cluster) -> None:
    submit(kueue, "before", 4, "1h")
    wait_for("the Job is admitted", lambda: is_true(kueue, "before", "Admitted"))
    # a master and a worker of 2 GPUs each
    manifest = pytorch_job("trains", {"duration": "1s"}, workers=1)
    manifest["metadata"]["labels"] = labels("local", None)
    manifest["spec"]["runPolicy"] = {"cleanPodPolicy": "None"}
    kueue.custom.create_namespaced_custom_object("kubeflow.org", "v1", NAMESPACE, "pytorchjobs", manifest)
    wait_for("it waits", lambda: conditions(kueue, "trains").get("QuotaReserved") == ("False", "Pending"))
    delete(kueue, "before")
    wait_for("it is finished", lambda: is_true(kueue, "trains", "Finished"))
    assert conditions(kueue, "trains")["Finished"] == ("True", "Succeeded")
    assert {each["name"]: each["count"] for each in workload_of(kueue, "trains")["spec"]["podSets"]} == {
        "master": 1,
        "worker": 1,
    }


@pytest.mark.deep
def test_rayjob_is_queued_with_its_cluster(kueue: Cluster) -> None:
    submit(kueue, "holder", GPUS, "1h")
    wait_for("the Job is admitted", lambda: is_true(kueue, "holder", "Admitted"))
    # a head and a worker of 2 GPUs each; Kueue requires that the cluster is deleted with the job
    test_ray.submit(kueue, "rays", gpus=2, labels=labels("local", None), shutdownAfterJobFinishes=True)
    wait_for("it waits", lambda: conditions(kueue, "rays").get("QuotaReserved") == ("False", "Pending"))
    assert test_ray.clusters(kueue, "rays") == []
    delete(kueue, "holder")
    wait_for("it is finished", lambda: is_true(kueue, "rays", "Finished"))
    assert test_ray.status(kueue, "rays")["jobStatus"] == "SUCCEEDED"
    test_ray.remove(kueue, "rays")


@pytest.mark.deep
def test_failed_job_frees_its_quota(kueue: Cluster) -> None:
    manifest = job("fails", {"exit-code": "1"}, GPUS)
    manifest["metadata"]["labels"] = labels("local", None)
    kueue.batch.create_namespaced_job(NAMESPACE, manifest)
    submit(kueue, "next", GPUS, "1s")
    wait_for("the next is finished", lambda: is_true(kueue, "next", "Finished"))
    assert conditions(kueue, "fails")["Finished"] == ("True", "Failed")
    delete(kueue, "fails", "next")


def test_queues_count_jobs_and_one_without_its_flavor_admits_none(kueue: Cluster) -> None:
    make_queue(kueue, "lacking", flavor="nowhere")
    submit(kueue, "stuck", 1, "1s", queue="lacking")

    def status() -> dict[str, Any]:
        found = kueue.custom.get_cluster_custom_object(GROUP, VERSION, "clusterqueues", "lacking")
        return dict(found.get("status", {}))

    wait_for("it is counted", lambda: status().get("pendingWorkloads") == 1)
    [active] = status()["conditions"]
    assert (active["type"], active["status"], active["reason"]) == ("Active", "False", "FlavorNotFound")
    assert kueue.batch.read_namespaced_job("stuck", NAMESPACE).spec.suspend
    create(kueue, "resourceflavors", "ResourceFlavor", "nowhere", {})
    wait_for("it is finished", lambda: is_true(kueue, "stuck", "Finished"))
    wait_for("nothing waits", lambda: status()["pendingWorkloads"] == status()["reservingWorkloads"] == 0)
    delete(kueue, "stuck")


def test_job_without_a_queue_is_left_unchanged(kueue: Cluster) -> None:
    kueue.batch.create_namespaced_job(NAMESPACE, job("free", {}, gpus=8))
    read = kueue.batch.read_namespaced_job
    wait_for("it is complete", lambda: read("free", NAMESPACE).status.succeeded)
    assert workload_of(kueue, "free") == {}


@pytest.mark.deep
def test_queues_survive_kills_of_api_server_and_kueue(labs: Labs, queues_lab: Lab, kueue: Cluster) -> None:
    submit(kueue, "holds", 3, "1h")
    wait_for("one is admitted", lambda: is_true(kueue, "holds", "Admitted"))
    submit(kueue, "queues", 3, "1s")
    wait_for("the other waits", lambda: conditions(kueue, "queues").get("QuotaReserved") == ("False", "Pending"))
    assert labs.run("restart", "--name", queues_lab.name, "kube-apiserver").returncode == 0
    assert labs.run("restart", "--name", queues_lab.name, "kueue").returncode == 0
    # until Kueue has loaded its queues again, the reason is another one
    assert conditions(kueue, "queues")["QuotaReserved"][0] == "False"
    delete(kueue, "holds")
    wait_for("the other is finished", lambda: is_true(kueue, "queues", "Finished"))
    assert labs.get(queues_lab.name).dead_components() == []
    delete(kueue, "queues")
