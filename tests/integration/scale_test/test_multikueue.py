"""MultiKueue between two labs: the manager's queues dispatch workloads to a worker, and nothing is left at either."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Priority, Tenant

from tests.integration.conftest import lab_with
from tests.polling import PATIENCE_S, wait_until

from .conftest import Lab, Submission, read_rows
from .test_faults_cluster import FlowRun, document

pytestmark = [pytest.mark.lab, pytest.mark.deep]

OPTIONS = ("--nodes", "4", "--with", "kueue", "--with", "jobset")
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
# the collections in which a submission creates objects at a cluster
CREATED = [
    *(f"{KUEUE}/{plural}" for plural in ("clusterqueues", "localqueues", "resourceflavors", "workloads")),
    *(f"{KUEUE}/{plural}" for plural in ("admissionchecks", "multikueueclusters", "multikueueconfigs")),
    "/api/v1/namespaces/kueue-system/secrets",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
]
WORKLOADS = ["/apis/batch/v1/jobs", "/apis/jobset.x-k8s.io/v1alpha2/jobsets", "/api/v1/pods"]


@pytest.fixture(name="lab", scope="module")
def _lab() -> Iterator[Lab]:
    with lab_with("PERF_TEST_MANAGER_LAB", f"manager-{os.getpid()}", *OPTIONS) as lab:
        yield Lab(lab.kubeconfig.parent)


@pytest.fixture(scope="module")
def worker() -> Iterator[Lab]:
    with lab_with("PERF_TEST_WORKER_LAB", f"worker-{os.getpid()}", *OPTIONS) as lab:
        yield Lab(lab.kubeconfig.parent)


@pytest.fixture(name="submission")
def _submission(lab: Lab, worker: Lab, tmp_path: Path) -> Iterator[Submission]:
    made = Submission(tmp_path, lab, multikueue_clusters={"east": worker.kubeconfig})
    made.tenants = [Tenant(made.namespace, "gold", quota=4)]
    yield made
    asyncio.run(made.delete_namespaces())
    asyncio.run(Submission(tmp_path, worker, tenants=made.tenants).delete_namespaces())


def existing(lab: Lab, *paths: str) -> list[str]:
    """Return the names of the existing objects that a submission created, or that Kueue created for it."""

    async def found() -> list[str]:
        async with lab.client() as client:
            items = [item for path in paths for item in await listed(client, path)]
        return [f"{item['kind']} {item['metadata']['name']}" for item in items if belongs(item["metadata"])]

    return asyncio.run(found())


def wait_gone(lab: Lab, *paths: str) -> None:
    wait_until(lambda: existing(lab, *paths) == [])


async def listed(client: ApiClient, path: str) -> list[dict[str, Any]]:
    answer = (await client.request("GET", path)).document()
    # a cluster may not serve the kind
    return [{"kind": answer["kind"].removesuffix("List"), **item} for item in answer.get("items") or ()]


def belongs(metadata: dict[str, Any]) -> bool:
    labels = metadata.get("labels") or {}
    return "psap.perf/submission" in labels or "kueue.x-k8s.io/job-uid" in labels


def secrets_of(kubeconfig: str) -> list[bytes]:
    """Return the credentials in a kubeconfig, as they are in it and decoded."""
    (user,) = yaml.safe_load(Path(kubeconfig).read_text())["users"]
    values = [user["user"]["client-key-data"]]
    return [text for value in values for text in (value.encode(), base64.b64decode(value))]


def check_secret(folder: Path, kubeconfig: str) -> None:
    """Check that no file below *folder* contains credentials of the kubeconfig."""
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert contents
    assert not any(secret in content for secret in secrets_of(kubeconfig) for content in contents)


@pytest.mark.parametrize("kind", ["job", "jobset"])
def test_workloads_run_at_the_worker_and_leave_nothing(submission: Submission, worker: Lab, kind: str) -> None:
    submission.kind, submission.count, submission.pods, submission.gpus = kind, 8, 2, 1
    second = f"{submission.namespace}-b"
    submission.tenants.append(Tenant(second, "silver", quota=4))
    submission.priorities = [Priority("high", 1000)]
    end = submission.submit()
    assert end.accounting.sentence() == "8 of 8 workloads submitted: 8 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    rows = submission.rows("transitions")
    names = {row["name"] for row in submission.rows("submissions")}
    dispatched = {row["workload"]: row["cluster"] for row in rows if row["transition"] == "dispatched"}
    assert dispatched == dict.fromkeys(names, "east")
    words = Counter((row["kind"], row["transition"]) for row in rows)
    of_workloads = [(row_kind, word) for row_kind, word in words if row_kind.lower() == kind]
    assert {word for _kind, word in of_workloads} >= {"created", "started", "completed"}
    counted = {word: words["Workload", word] for word in ("quota_reserved", "dispatched", "admitted")}
    assert counted == dict.fromkeys(counted, 8)
    # the manager runs no pod
    assert not [row for row in rows if row["kind"] == "Pod"]
    for cluster in (submission.lab, worker):
        wait_gone(cluster, *CREATED[:3], *CREATED[4:])
    wait_gone(worker, *CREATED, *WORKLOADS)
    check_secret(submission.folder, submission.multikueue_clusters["east"])


def test_stopped_submission_leaves_nothing_at_the_worker(submission: Submission, worker: Lab) -> None:
    # more than the quota: some run, others wait
    submission.count, submission.duration_s = 12, 300.0

    async def scene() -> SessionEnd:
        stopped = asyncio.Event()
        running = asyncio.create_task(submission.run(stopped.is_set))
        await submission.wait_answered(12)
        async with worker.client() as client:
            while not [pod for pod in await listed(client, "/api/v1/pods") if pod["status"]["phase"] == "Running"]:
                await asyncio.sleep(0.1)
        stopped.set()
        return await running

    assert asyncio.run(scene()).ended_by == "stop"
    wait_gone(worker, *CREATED, *WORKLOADS)
    # their Jobs remain for the cleanup
    wait_gone(submission.lab, *CREATED[1:3], *CREATED[4:])


def test_unreachable_worker_is_reported_before_submission(submission: Submission, tmp_path: Path) -> None:
    kubeconfig = yaml.safe_load(Path(submission.multikueue_clusters["east"]).read_text())
    kubeconfig["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True
    refused = tmp_path / "refused"
    refused.write_text(json.dumps(kubeconfig))
    submission.multikueue_clusters = {"east": str(refused)}
    with pytest.raises(ClusterError, match="the kubeconfig of the cluster east uses insecure-skip-tls-verify"):
        submission.submit()
    submission.multikueue_clusters = {"east": submission.lab.kubeconfig}
    with pytest.raises(PerfError, match="the cluster east is the cluster of the test itself"):
        submission.submit()
    assert not (submission.folder / "artifacts" / "submissions.jsonl").exists()
    wait_gone(submission.lab, *CREATED)


def test_cleanup_after_a_kill_leaves_nothing(lab: Lab, worker: Lab, tmp_path: Path) -> None:
    namespace = "killed"
    clusters = {"east": worker.kubeconfig}
    arguments = {
        "namespace": namespace,
        "count": 12,
        "duration": "300s",
        "tenants": [{"queue": "gold", "quota": 4}],
        "multikueue_clusters": clusters,
    }
    named = {f"scale_test_submit_{name}": value for name, value in arguments.items()}
    process = lab.playbook(tmp_path, "scale_test_submit", **named)
    try:
        wait_until(lambda: len(existing(worker, "/apis/batch/v1/jobs")) == 4, during=process)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert existing(lab, *CREATED[4:8])
    assert existing(worker, *CREATED[:3])
    cleanup = {"namespace": namespace, "multikueue_clusters": clusters}
    changes = []
    for _again in range(2):
        process = lab.playbook(
            tmp_path, "scale_test_cleanup", **{f"scale_test_cleanup_{name}": value for name, value in cleanup.items()}
        )
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, output
        changes.append("changed=0" not in output)
        for cluster in (lab, worker):
            assert existing(cluster, *CREATED, *WORKLOADS) == []
    assert changes == [True, False]
    check_secret(tmp_path, worker.kubeconfig)


def test_flow_with_the_preset_reports_the_clusters(lab: Lab, worker: Lab, tmp_path: Path) -> None:
    driven = FlowRun(lab, tmp_path)
    clusters = json.dumps({"scale_test_multikueue_clusters": {"east": worker.kubeconfig}, "scale_test_count": 18})
    process = driven.start("scale_test", "-i", "lab", "-p", "scale_test_multikueue", "-e", clusters)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output
    (artifacts,) = driven.artifacts()
    accounting = document(artifacts, "accounting")
    assert (accounting["completed"], accounting["identity_holds"]) == (18, True)
    assert Counter(row.get("cluster") for row in read_rows(artifacts / "transitions.jsonl"))["east"] == 18
    for cluster in (lab, worker):
        assert existing(cluster, *CREATED, *WORKLOADS) == []
    (kpis,) = tmp_path.glob("*/report/kpis.json")
    assert "dispatch_p50" in kpis.read_text()
    check_secret(tmp_path, worker.kubeconfig)
