"""The API server or etcd is killed during a submission, its recording or a filling, and restarts."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint, load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.copies import NUMBER_MARK
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.counting import count
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.filling import FillRequest, plan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import concurrency_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import arrivals_at

from tests.polling import PATIENCE_S, wait_until

from .conftest import PROGRAMS, Lab, Submission, running_lab

pytestmark = pytest.mark.lab


@pytest.fixture(name="durable", scope="module")
def _durable() -> Iterator[Lab]:
    """Start a lab whose etcd writes to disk what it acknowledges."""
    with running_lab(f"scaletest-durable-{os.getpid()}", "--fsync") as lab:
        yield lab


@pytest.fixture(name="submission")
def _submission(durable: Lab, tmp_path: Path) -> Submission:
    return Submission(tmp_path, durable)


async def kill_and_restart(lab: Lab, component: str, away_s: int = 1) -> None:
    """Kill -9 a program, and start it again after this many seconds."""
    os.kill(lab.pid(component), signal.SIGKILL)
    words = ["restart", "--name", lab.folder.name, component, "--after", str(away_s)]
    done = await asyncio.to_thread(
        subprocess.run, [str(PROGRAMS / "perflab"), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


LASTING = ("created", "completed")


def check(
    submission: Submission, end: SessionEnd, kind: str = "Job", words: tuple[str, ...] = (*LASTING, "started")
) -> None:
    """Check that each workload was submitted once, seen once in each state, and completed; the command succeeds.

    Args:
        kind: Kind of the workloads.
        words: The states that a workload of the kind reaches exactly once.
    """
    count = submission.count
    assert end.accounting.sentence() == f"{count} of {count} workloads submitted: {count} completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    requests.judge(end, max_failed=0, timeout_s=1.0)
    rows = [row for row in submission.rows("transitions") if row["kind"] == kind]
    changes = [(row["uid"], row["transition"]) for row in rows if row["transition"] in words]
    assert len(changes) == len(set(changes)) == len(words) * count
    assert len({row["uid"] for row in submission.rows("submissions")}) == count


ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "scale-tester"},
    "rules": [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["create"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create"]},
    ],
}
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "scale-tester"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "scale-tester"},
    "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "default"}],
}


async def plain_user(lab: Lab) -> ApiEndpoint:
    """Return the endpoint of a user with roles, which an API server does not have loaded just after its start."""
    admin = load_endpoint(lab.kubeconfig)
    group = "/apis/rbac.authorization.k8s.io/v1"
    async with ApiClient(admin) as client:
        for path, body in ((f"{group}/clusterroles", ROLE), (f"{group}/clusterrolebindings", BINDING)):
            made = await client.request("POST", path, body=json.dumps(body).encode())
            # an earlier test may have created it
            assert made.succeeded or made.status == 409, made.message()
        asked = await client.request("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", body=b"{}")
        token = asked.document()["status"]["token"]
    return replace(admin, client_certificate=None, client_key=None, token=token)


async def submit_despite_kills(submission: Submission, *components: str) -> SessionEnd:
    """Submit, and kill programs one after the other after twenty responses."""
    running = asyncio.create_task(submission.run())
    await submission.wait_answered(20)
    for component in components:
        await kill_and_restart(submission.lab, component)
    return await running


# the API server is killed only twice: the control plane's clients reconnect later after each kill


def test_submission_survives_a_killed_api_server(submission: Submission) -> None:
    submission.count, submission.rate, submission.submitters = 80, 20.0, 2

    async def scene() -> SessionEnd:
        submission.endpoint = await plain_user(submission.lab)
        return await submit_despite_kills(submission, "kube-apiserver")

    check(submission, asyncio.run(scene()))
    rows = submission.rows("submissions")
    assert {(row["index"], row["submitter"]) for row in rows} == {(index, index % 2) for index in range(80)}
    recording = submission.document("recording")
    assert recording["client"]["requests"]["retries"]["cannot connect"] > 0
    assert recording["disturbances"]["connection lost"] >= len(recording["resources"])


@pytest.mark.deep
def test_watch_survives_a_killed_api_server(submission: Submission) -> None:
    # the kill comes before their end, even on a busy machine
    submission.count, submission.duration_s = 20, 8.0
    check(submission, asyncio.run(submit_despite_kills(submission, "kube-apiserver")))
    recording = submission.document("recording")
    assert recording["client"]["requests"]["retries"].keys() <= {"cannot connect", "connection lost"}
    assert recording["disturbances"]["connection lost"] >= len(recording["resources"])


@pytest.mark.deep
def test_submission_survives_a_killed_etcd(submission: Submission) -> None:
    submission.count, submission.rate = 80, 20.0

    async def scene() -> tuple[int, SessionEnd]:
        running = asyncio.create_task(submission.run())
        await submission.wait_answered(20)
        before = len(submission.rows("submissions"))
        # kubelets repeat what a broken etcd refused; their simulation does so when it is restarted
        for component in ("etcd", "kwok"):
            await kill_and_restart(submission.lab, component)
        return before, await running

    before, end = asyncio.run(scene())
    check(submission, end)
    assert 20 <= before < 80
    # the API server waits for its etcd: requests sent meanwhile are answered later, or refused and repeated
    retries = submission.document("recording")["client"]["requests"]["retries"]
    assert sum(row["attempts"] for row in submission.rows("submissions")) - 80 <= sum(retries.values())


@pytest.mark.deep
def test_watch_survives_a_killed_etcd(submission: Submission) -> None:
    submission.count, submission.duration_s = 20, 4.0
    check(submission, asyncio.run(submit_despite_kills(submission, "etcd", "kwok")))


SELECTOR = "psap.perf/test=busy"
LABELS = {"psap.perf/test": "busy"}
CONFIGMAPS = {"busy_cluster_create_configmaps_namespace_selector": SELECTOR}


def to_fill(kind: str, number: int, rate: float = 0.0) -> FillRequest:
    manifest = {"apiVersion": "v1", "kind": kind, "metadata": {"name": f"busy-{NUMBER_MARK}"}}
    return FillRequest([manifest], number, LABELS, SELECTOR, concurrency_of(0), arrivals_at(rate))


async def filled(lab: Lab, folder: Path, asked: FillRequest) -> dict[str, Any]:
    async with lab.client() as client:
        filling = await plan(client, asked)
        await filling.run(folder, lambda: False)
    filling.account.judge()
    document: dict[str, Any] = json.loads((folder / "creation.json").read_text())
    return document


async def existing(client: ApiClient) -> int:
    counts = await count(client, ["ConfigMap"], SELECTOR)
    return counts.total["ConfigMap"]["exist"] if counts.total else 0


@pytest.mark.deep
def test_killed_api_server_and_command_leave_completable_data(durable: Lab, tmp_path: Path) -> None:
    async def through_a_kill() -> dict[str, Any]:
        await filled(durable, tmp_path, to_fill("Namespace", 4))
        filling = asyncio.create_task(filled(durable, tmp_path, to_fill("ConfigMap", 300, rate=300.0)))
        async with durable.client() as client:
            while await existing(client) < 100:
                await asyncio.sleep(0.05)
        await kill_and_restart(durable, "kube-apiserver")
        return await filling

    document = asyncio.run(through_a_kill())
    assert document["kinds"]["ConfigMap"] == {"wanted": 1200, "existed": 0, "created": 1200}
    assert document["requests"]["retries"]

    arguments = {**CONFIGMAPS, "busy_cluster_create_configmaps_count": 1000}
    process = durable.playbook(
        tmp_path / "runs", "busy_cluster_create_configmaps", **arguments, shared_busy_cluster_rate=100.0
    )
    progress = "*/001__*/artifacts/progress.json"
    wait_until(lambda: any(json.loads(path.read_text())["done"] > 1300 for path in (tmp_path / "runs").glob(progress)))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    process = durable.playbook(tmp_path / "runs", "busy_cluster_create_configmaps", **arguments)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output
    creations = [json.loads(path.read_text()) for path in (tmp_path / "runs").glob("*/001__*/artifacts/creation.json")]
    assert len(creations) == 1
    numbers = creations[0]["kinds"]["ConfigMap"]
    assert (numbers["wanted"], numbers["existed"] + numbers["created"]) == (4000, 4000)
    assert min(numbers["existed"] - 1300, numbers["created"]) > 0
