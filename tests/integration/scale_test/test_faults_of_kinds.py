"""The faults of a cluster on workloads of the kinds with an own controller."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import make_namespace

from tests.polling import PATIENCE_S

from .conftest import Lab, Submission
from .test_faults_cluster import FlowRun, check_fails, check_resumes, document, post, run_with_webhook
from .test_faults_control_plane import LASTING, check, submit_despite_kills
from .webhook import RefusingWebhook

pytestmark = [pytest.mark.lab, pytest.mark.deep, pytest.mark.usefixtures("quiet")]


@dataclass(frozen=True)
class Kind:
    """A kind; the patch with which its workloads fail, and the reason; the end after the eviction of a pod."""

    resource: ResourceKind
    fails: dict[str, Any]
    evicted: str
    lasting: bool = False

    @property
    def group(self) -> str:
        return self.resource.api_version.partition("/")[0]


FAILS = {"metadata": {"annotations": {"lab.psap.perf/exit-code": "3"}}}
OF_JOB = [{"name": "workers", "template": {"spec": {"template": FAILS}}}]
OF_RUNTIME = [{"name": "node", "template": {"spec": {"template": FAILS}}}]
KINDS = {
    "jobset": Kind(
        ResourceKind("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets"), {"spec": {"replicatedJobs": OF_JOB}}, "completed"
    ),
    "leaderworkerset": Kind(
        ResourceKind("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "leaderworkersets"), {}, "completed", True
    ),
    "trainjob": Kind(
        ResourceKind("trainer.kubeflow.org/v1alpha1", "TrainJob", "trainjobs"),
        {"runtime": {"template": {"spec": {"replicatedJobs": OF_RUNTIME}}}},
        "completed",
    ),
    "rayjob": Kind(ResourceKind("ray.io/v1", "RayJob", "rayjobs"), {"spec": {"submitterPodTemplate": FAILS}}, "failed"),
}
EACH = pytest.mark.parametrize("kind", KINDS)
ENDING = pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if not kind.lasting])


@pytest.fixture(name="lab", scope="module")
def _lab(kinds_lab: Lab) -> Lab:
    return kinds_lab


def with_quota(submission: Submission, resource: str, number: int) -> SessionEnd:
    """Submit into a namespace whose quota is in force."""
    quotas = f"/api/v1/namespaces/{submission.namespace}/resourcequotas"
    quota = {"metadata": {"name": "some"}, "spec": {"hard": {resource: str(number)}}}

    async def scene() -> SessionEnd:
        async with submission.lab.client() as client:
            await make_namespace(client, submission.namespace)
            await post(client, quotas, quota)
            while not (await client.request("GET", f"{quotas}/some")).document().get("status", {}).get("hard"):
                await asyncio.sleep(0.05)
        return await submission.run()

    return asyncio.run(scene())


@EACH
def test_workloads_above_the_quota_fail_with_its_name(submission: Submission, kind: str) -> None:
    submission.kind, submission.count = kind, 5
    resource = KINDS[kind].resource
    end = with_quota(submission, f"count/{resource.plural}.{KINDS[kind].group}", 3)
    assert (end.accounting.completed, end.accounting.failed) == (3, 2)
    check_fails(end, r"2 failed \(refused: 403 Forbidden, quota some exceeded: 2\)", PerfError)


@EACH
def test_workloads_without_pods_of_a_quota_wait(submission: Submission, kind: str) -> None:
    submission.kind, submission.count, submission.timeout_s = kind, 2, 8.0
    end = with_quota(submission, "pods", 0)
    assert end.accounting.running_by_cause == {"quota some exceeded": 2}


@EACH
def test_workloads_refused_by_a_webhook_fail_with_its_name(submission: Submission, kind: str) -> None:
    submission.kind, submission.count = kind, 10
    with RefusingWebhook(every=5) as webhook:
        end = run_with_webhook(submission, webhook, f"fifth-{kind}", KINDS[kind].group, KINDS[kind].resource.plural)
    assert (end.accounting.completed, end.accounting.failed) == (8, 2)
    check_fails(end, f"2 failed .refused: .*webhook fifth-{kind}.psap.perf denied it: 2", PerfError)


@EACH
def test_webhook_that_never_answers_is_named(submission: Submission, kind: str) -> None:
    submission.kind, submission.count, submission.timeout_s = kind, 4, 4.0
    with RefusingWebhook(every=0) as webhook:
        end = run_with_webhook(submission, webhook, f"silent-{kind}", KINDS[kind].group, KINDS[kind].resource.plural)
    assert (end.ended_by, end.accounting.lost) == ("timeout", 0)
    cause = f"refused: 500 Internal Server Error, webhook silent-{kind}.psap.perf did not answer in time"
    assert end.accounting.failed_by_cause == {cause: 4}


# kubelets repeat what a broken etcd refused; their simulation does so when it is restarted
@pytest.mark.parametrize("killed", [("kube-apiserver",), ("etcd", "kwok")], ids=["kube-apiserver", "etcd"])
@EACH
def test_submission_survives_a_killed_control_plane(submission: Submission, kind: str, killed: tuple[str, ...]) -> None:
    submission.kind, submission.count, submission.rate = kind, 40, 10.0
    end = asyncio.run(submit_despite_kills(submission, *killed))
    check(submission, end, KINDS[kind].resource.kind, LASTING)


@EACH
def test_resume_continues_for_a_killed_client(lab: Lab, tmp_path: Path, kind: str) -> None:
    # without GPUs, which the workloads of the first attempt may hold
    changes = (f"workload_kind={KINDS[kind].resource.kind}", "gpus=0")
    check_resumes(FlowRun(lab, tmp_path), signal.SIGKILL, *changes)


def during(submission: Submission, act: Callable[[], Any]) -> SessionEnd:
    """Submit; act once all workloads have a response."""

    async def scene() -> SessionEnd:
        running = asyncio.create_task(submission.run())
        await submission.wait_answered(submission.count)
        await act()
        return await running

    return asyncio.run(scene())


@EACH
def test_workloads_of_a_deleted_namespace_fail_or_are_lost(submission: Submission, kind: str) -> None:
    submission.kind, submission.count, submission.rate, submission.duration_s = kind, 20, 10.0, 60.0
    # pods that can never be scheduled: no workload completes
    submission.gpus = 9

    async def scene() -> SessionEnd:
        running = asyncio.create_task(submission.run())
        await submission.wait_answered(8)
        async with submission.lab.client() as client:
            await client.request("DELETE", f"/api/v1/namespaces/{submission.namespace}")
        return await running

    accounting = asyncio.run(scene()).accounting
    assert accounting.identity_holds
    assert (accounting.submitted, accounting.failed + accounting.lost) == (20, 20)
    refusal = f"refused: 403 Forbidden, namespace {submission.namespace} is being deleted"
    assert accounting.failed_by_cause[refusal] > 0


@EACH
def test_deleted_workloads_are_lost(submission: Submission, kind: str) -> None:
    # pods that can never be scheduled: no workload completes
    submission.kind, submission.count, submission.gpus, submission.timeout_s = kind, 4, 9, 15.0

    async def delete() -> None:
        async with submission.lab.client() as client:
            for row in submission.rows("submissions")[:2]:
                await client.request("DELETE", KINDS[kind].resource.object(submission.namespace, row["name"]))

    end = during(submission, delete)
    assert end.accounting.lost_by_cause == {"deleted before its end": 2}
    assert end.accounting.running == 2
    check_fails(end, "2 lost", DataQualityError)


@ENDING
def test_failed_pods_are_counted_by_reason(submission: Submission, kind: str) -> None:
    submission.kind, submission.count, submission.patch = kind, 2, KINDS[kind].fails
    end = submission.submit()
    assert end.accounting.failed_by_cause == {"Error (exit code 3)": 2}
    check_fails(end, "2 failed", PerfError)


@ENDING
def test_workload_with_an_evicted_pod_ends(submission: Submission, kind: str) -> None:
    submission.kind, submission.count, submission.duration_s = kind, 1, 10.0
    pods = f"/api/v1/namespaces/{submission.namespace}/pods"

    async def evict() -> None:
        async with submission.lab.client() as client:
            found: list[dict[str, Any]] = []
            while not found:
                await asyncio.sleep(0.1)
                items = (await client.request("GET", pods)).document().get("items") or []
                found = [pod for pod in items if pod["status"].get("phase") == "Running"]
            name = found[0]["metadata"]["name"]
            body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
            await post(client, f"{pods}/{name}/eviction", body)

    accounting = during(submission, evict).accounting
    assert (getattr(accounting, KINDS[kind].evicted), accounting.lost, accounting.identity_holds) == (1, 0, True)
    pods_seen = [row for row in submission.rows("transitions") if row["kind"] == "Pod"]
    assert "EvictionByEvictionAPI" in {row["reason"] for row in pods_seen if row["transition"] == "evicted"}
    if KINDS[kind].evicted == "completed":
        # another pod replaced it
        assert len({row["uid"] for row in pods_seen}) == 2


PRESETS = pytest.mark.parametrize(("preset", "kind"), [("jobset", "jobset"), ("lws", "leaderworkerset")])
NAMESPACE = "psap-perf-scale-test"


def existing(lab: Lab, kind: str) -> list[dict[str, Any]]:
    """Return the workloads of a kind and all pods in the namespace of the flow; none if it does not exist."""

    async def found() -> list[dict[str, Any]]:
        async with lab.client() as client:
            paths = (KINDS[kind].resource.collection(NAMESPACE), f"/api/v1/namespaces/{NAMESPACE}/pods")
            answers = [await client.request("GET", path) for path in paths]
        return [each for answer in answers for each in answer.document()["items"]]

    return asyncio.run(found())


@PRESETS
def test_flow_with_the_preset_of_a_kind_leaves_nothing(lab: Lab, tmp_path: Path, preset: str, kind: str) -> None:
    driven = FlowRun(lab, tmp_path)
    process = driven.start("scale_test", "-i", "lab", "-p", f"scale_test_{preset}")
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output
    (artifacts,) = driven.artifacts()
    accounting = document(artifacts, "accounting")
    assert accounting["asked"] == accounting["completed"] > 0
    assert accounting["identity_holds"]
    assert existing(lab, kind) == []
