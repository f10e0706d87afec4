"""Submitters in pods of a real node: the accounts of processes, and what is left after pods or Ansible are killed."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests

from tests.integration.conftest import lab_with, perflab, running_lab
from tests.integration.rights import run_with_reported_rights
from tests.polling import PATIENCE_S, wait_until

from .conftest import Lab, Submission, read_rows
from .test_faults_control_plane import kill_and_restart

pytestmark = [pytest.mark.lab, pytest.mark.deep]

IMAGE = "localhost/perflab/psap-perf:1"
ROLES = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture(name="lab", scope="module")
def _lab() -> Iterator[Lab]:
    """Start a lab of 20 simulated nodes and a real one, which has the image of this project."""
    with lab_with("PERF_TEST_WORKER_LAB", f"tests-pods-{os.getpid()}", "--nodes", "20", "--with", "worker") as shared:
        perflab("image", "load", "--name", shared.name, "psap-perf")
        yield Lab(shared.kubeconfig.parent)


@pytest.fixture(name="in_pods")
def _in_pods(submission: Submission) -> Submission:
    """A submission of 320 Jobs by 4 pods."""
    submission.count, submission.submitters, submission.submitters_as = 320, 4, "pods"
    return submission


def items(lab: Lab, path: str, **options: str) -> list[dict[str, Any]]:
    """Return the objects of a collection."""

    async def listed() -> list[dict[str, Any]]:
        async with lab.client() as client:
            answer = await client.request("GET", path, params=options)
        assert answer.succeeded, answer.message()
        found: list[dict[str, Any]] = answer.document()["items"]
        return found

    return asyncio.run(listed())


def left(lab: Lab, namespace: str) -> list[str]:
    """Return the names of the objects that submitters in pods use."""
    paths = (
        f"/api/v1/namespaces/{namespace}/pods",
        f"/api/v1/namespaces/{namespace}/serviceaccounts",
        f"{ROLES}/namespaces/{namespace}/roles",
        f"{ROLES}/namespaces/{namespace}/rolebindings",
    )
    found = [item for path in paths for item in items(lab, path, labelSelector="psap.perf/submitters")]
    return [item["metadata"]["name"] for item in found if "deletionTimestamp" not in item["metadata"]]


def jobs(lab: Lab, namespace: str) -> list[str]:
    return sorted(item["metadata"]["name"] for item in items(lab, f"/apis/batch/v1/namespaces/{namespace}/jobs"))


def test_pods_submit_like_processes(in_pods: Submission) -> None:
    end = in_pods.submit()

    assert end.accounting.sentence() == "320 of 320 workloads submitted: 320 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    rows = in_pods.rows("submissions")
    assert {(row["index"], row["submitter"]) for row in rows} == {(index, index % 4) for index in range(320)}
    created = [row for row in in_pods.rows("transitions") if (row["kind"], row["transition"]) == ("Job", "created")]
    sent = {row["name"]: row["sent_s"] for row in rows}
    assert min(row["seen_s"] - sent[row["workload"]] for row in created) > 0
    hosts = [in_pods.document(f"submitters/{number:02d}/ready")["host"] for number in range(4)]
    assert [host.rpartition("-")[2] for host in hosts] == ["00", "01", "02", "03"]
    clocks = [in_pods.document(f"submitters/{number:02d}/clock") for number in range(4)]
    assert max(abs(clock["offset_s"]) - clock["uncertainty_s"] for clock in clocks) < 0.01
    assert left(in_pods.lab, in_pods.namespace) == []


def test_account_of_pods_may_only_create_and_read_workloads(in_pods: Submission) -> None:
    in_pods.rate = 20.0

    async def observed() -> dict[str, Any]:
        running = asyncio.create_task(in_pods.run())
        await in_pods.wait_answered(10)
        async with in_pods.lab.client() as client:
            path = f"{ROLES}/namespaces/{in_pods.namespace}/roles"
            (role,) = (await client.request("GET", path)).document()["items"]
        await running
        return dict(role)

    (rule,) = asyncio.run(observed())["rules"]
    assert rule == {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "get"]}


def test_lost_pod_fails_the_submission_with_its_accounts(in_pods: Submission) -> None:
    in_pods.rate = 40.0

    async def lose_one() -> Any:
        running = asyncio.create_task(in_pods.run())
        await in_pods.wait_answered(40)
        async with in_pods.lab.client() as client:
            pods = f"/api/v1/namespaces/{in_pods.namespace}/pods"
            found = await client.request("GET", pods, params={"labelSelector": "psap.perf/submitters"})
            name = sorted(item["metadata"]["name"] for item in found.document()["items"])[1]
            assert (await client.request("DELETE", f"{pods}/{name}")).succeeded
        return await running

    end = asyncio.run(lose_one())

    accounting = end.accounting
    assert 240 < accounting.submitted < 320
    assert (accounting.lost, accounting.identity_holds) == (0, True)
    rows = in_pods.rows("submissions")
    by = Counter(row["submitter"] for row in rows)
    assert [by[number] for number in (0, 2, 3)] == [80, 80, 80]
    # the accounting agrees with the cluster, also about requests whose announcement was lost with the pod
    assert sorted(row["name"] for row in rows if row["uid"]) == jobs(in_pods.lab, in_pods.namespace)
    with pytest.raises(PerfError, match=r"submitter 1 lost its pod \S+-submitter-01, which was deleted: of its 80"):
        requests.judge(end, max_failed=0, timeout_s=1.0)
    assert left(in_pods.lab, in_pods.namespace) == []


def test_restart_of_the_api_server_loses_no_submitter(in_pods: Submission) -> None:
    in_pods.count, in_pods.rate = 200, 20.0

    async def restart() -> Any:
        running = asyncio.create_task(in_pods.run())
        await in_pods.wait_answered(40)
        await kill_and_restart(in_pods.lab, "kube-apiserver")
        return await running

    end = asyncio.run(restart())

    assert end.accounting.sentence() == "200 of 200 workloads submitted: 200 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    requests.judge(end, max_failed=0, timeout_s=1.0)
    assert left(in_pods.lab, in_pods.namespace) == []


@pytest.mark.parametrize(
    ("image", "reason"),
    [("localhost/perflab/none:1", "ErrImagePull|ImagePullBackOff"), ("localhost/perflab/pause:1", "StartError")],
)
def test_unusable_image_fails_before_the_recording(in_pods: Submission, image: str, reason: str) -> None:
    in_pods.submitters_image = image
    began = time.monotonic()
    with pytest.raises(ClusterError, match=rf"nothing was submitted: the submitter pod .*({reason})"):
        in_pods.submit()
    assert time.monotonic() - began < 60
    assert left(in_pods.lab, in_pods.namespace) == []
    assert jobs(in_pods.lab, in_pods.namespace) == []


def test_image_without_packages_fails_before_the_first_workload(in_pods: Submission) -> None:
    in_pods.submitters_image = "localhost/perflab/python:3"
    with pytest.raises(PerfError, match=r"were ready: submitter \d ended \(ModuleNotFoundError: No module "):
        in_pods.submit()
    assert left(in_pods.lab, in_pods.namespace) == []
    assert jobs(in_pods.lab, in_pods.namespace) == []


def test_pods_that_get_no_node_fail_after_their_time_limit(in_pods: Submission) -> None:
    in_pods.submitters_ready_timeout = 2.0
    in_pods.submitters_node_selector = {"no-such-label": "true"}
    with pytest.raises(ClusterError, match=r"does not run: .*not scheduled: .*\(4 pods do not run\)"):
        in_pods.submit()
    assert left(in_pods.lab, in_pods.namespace) == []


def test_kill_of_ansible_ends_submitters_and_the_cleanup_deletes_pods(lab: Lab, tmp_path: Path) -> None:
    namespace = "killed-submitters"
    arguments = {"count": 5000, "rate": 20.0, "submitters": 2, "submitters_as": "pods", "namespace": namespace}
    process = lab.playbook(
        tmp_path, "scale_test_submit", **{f"scale_test_submit_{name}": value for name, value in arguments.items()}
    )
    wait_until(lambda: any(len(read_rows(path)) > 20 for path in tmp_path.rglob("artifacts/submissions.jsonl")))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    made: list[int] = []

    def settled() -> bool:
        made.append(len(jobs(lab, namespace)))
        time.sleep(1)
        return len(made) > 3 and len(set(made[-3:])) == 1

    # a submitter ends when no stream was open for 30 s
    wait_until(settled)
    assert made[-1] < 2000
    assert len(left(lab, namespace)) == 5

    cleanup = lab.playbook(tmp_path, "scale_test_cleanup", scale_test_cleanup_namespace=namespace)
    output, _ = cleanup.communicate(timeout=PATIENCE_S)
    assert cleanup.returncode == 0, output
    assert left(lab, namespace) == []


def test_listed_rights_suffice_to_submit_from_pods(lab: Lab, tmp_path: Path) -> None:
    settings = {"scale_test_submitters": 2, "scale_test_submitters_as": "pods"}
    reported = run_with_reported_rights(running_lab(lab.folder.name), tmp_path, "scale_test", **settings)
    assert "pods/exec" in {kind for _verbs, kind, _namespace in reported}
