"""Faults of a live cluster: quotas, deleted namespaces, refusing webhooks, and a client or disk that fails."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import resource
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RetryPolicy
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import make_namespace

from tests.polling import PATIENCE_S, wait_until

from .conftest import PROGRAMS, PROJECT, Lab, Submission, read_rows
from .webhook import RefusingWebhook

pytestmark = pytest.mark.lab


def check_fails(end: SessionEnd, sentence: str, error: type[PerfError]) -> None:
    """Check that the command fails with this error, whose class determines the exit code."""
    assert end.accounting.identity_holds
    with pytest.raises(PerfError, match=sentence) as raised:
        requests.judge(end, max_failed=0, timeout_s=1.0)
    assert type(raised.value) is error


async def post(client: ApiClient, path: str, body: dict[str, Any]) -> None:
    answer = await client.request("POST", path, body=json.dumps(body).encode())
    assert answer.succeeded, answer.message()


def test_workloads_above_the_quota_fail_with_its_name(submission: Submission) -> None:
    quotas = f"/api/v1/namespaces/{submission.namespace}/resourcequotas"
    quota = {"metadata": {"name": "half"}, "spec": {"hard": {"count/jobs.batch": "5"}}}

    async def scene() -> SessionEnd:
        async with submission.lab.client() as client:
            await make_namespace(client, submission.namespace)
            await post(client, quotas, quota)
            while not (await client.request("GET", f"{quotas}/half")).document().get("status", {}).get("hard"):
                await asyncio.sleep(0.05)
        return await submission.run()

    end = asyncio.run(scene())
    assert (end.accounting.submitted, end.accounting.completed, end.accounting.failed) == (10, 5, 5)
    assert end.accounting.failed_by_cause == {"refused: 403 Forbidden, quota half exceeded": 5}
    errors = [row["error"] for row in submission.rows("submissions") if row["outcome"] == "failed"]
    assert len(errors) == 5
    assert all("exceeded quota: half" in error for error in errors)
    check_fails(end, r"5 failed \(refused: 403 Forbidden, quota half exceeded: 5\)", PerfError)


@pytest.mark.deep
def test_workloads_of_a_deleted_namespace_fail_or_are_lost(submission: Submission) -> None:
    submission.count, submission.rate, submission.duration_s = 60, 20.0, 60.0

    async def scene() -> SessionEnd:
        running = asyncio.create_task(submission.run())
        await submission.wait_answered(20)
        async with submission.lab.client() as client:
            answer = await client.request("DELETE", f"/api/v1/namespaces/{submission.namespace}")
            assert answer.succeeded
        return await running

    end = asyncio.run(scene())
    accounting = end.accounting
    assert (accounting.submitted, accounting.failed + accounting.lost) == (60, 60)
    # the cluster decides which of them it deletes before their pods
    gone = {"deleted before its end", "Error (exit code 137)", "BackoffLimitExceeded"}
    refusal = f"refused: 403 Forbidden, namespace {submission.namespace} is being deleted"
    assert {*accounting.lost_by_cause, *accounting.failed_by_cause} <= {*gone, refusal, "refused: 404 Not Found"}
    assert accounting.failed_by_cause[refusal] > 0
    check_fails(end, f"60 of 60 workloads submitted: .*{refusal}", DataQualityError if accounting.lost else PerfError)


# group and plural of a kind that shows whether the webhook is in force
PROBED = ("", "configmaps")


def run_with_webhook(
    submission: Submission, webhook: RefusingWebhook, name: str, group: str = "batch", plural: str = "jobs"
) -> SessionEnd:
    """Run the submission while the webhook validates its workloads, each within a second."""
    configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

    async def scene() -> SessionEnd:
        hook = {
            "name": f"{name}.psap.perf",
            "clientConfig": {"url": webhook.url, "caBundle": base64.b64encode(webhook.certificate).decode()},
            "rules": [
                {"apiGroups": [of], "apiVersions": ["*"], "resources": [resource], "operations": ["CREATE"]}
                for of, resource in ((group, plural), PROBED)
            ],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": submission.namespace}},
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail",
            "timeoutSeconds": 1,
        }
        async with submission.lab.client() as client:
            await make_namespace(client, submission.namespace)
            await post(client, configurations, {"metadata": {"name": name}, "webhooks": [hook]})
            try:
                await wait_in_force(client)
                return await submission.run()
            finally:
                await client.request("DELETE", f"{configurations}/{name}")

    async def wait_in_force(client: ApiClient) -> None:
        """Wait until the API server calls the new webhook."""
        probes = f"/api/v1/namespaces/{submission.namespace}/{PROBED[1]}?dryRun=All"
        body = {"metadata": {"name": "probe", "labels": {"psap.perf/index": "9"}}}
        once = RetryPolicy(attempts=1)
        while (await client.request("POST", probes, body=json.dumps(body).encode(), policy=once)).succeeded:
            await asyncio.sleep(0.05)

    return asyncio.run(scene())


def test_workloads_refused_by_a_webhook_fail_with_its_name(submission: Submission) -> None:
    submission.count = 40
    with RefusingWebhook(every=10) as webhook:
        end = run_with_webhook(submission, webhook, "one-in-ten")
    assert (end.accounting.completed, end.accounting.failed) == (36, 4)
    rows = [row for row in submission.rows("submissions") if row["outcome"] == "failed"]
    assert sorted(row["index"] for row in rows) == [9, 19, 29, 39]
    assert all('admission webhook "one-in-ten.psap.perf" denied the request' in row["error"] for row in rows)
    check_fails(end, "4 failed .refused: 400 Bad Request, webhook one-in-ten.psap.perf denied it: 4", PerfError)
    requests.judge(end, max_failed=4, timeout_s=1.0)


@pytest.mark.deep
def test_webhook_that_never_answers_is_named(submission: Submission) -> None:
    # as many as are in flight concurrently
    submission.count, submission.timeout_s = 8, 4.0
    with RefusingWebhook(every=0) as webhook:
        end = run_with_webhook(submission, webhook, "silent")
    assert (end.ended_by, end.accounting.lost) == ("timeout", 0)
    cause = "refused: 500 Internal Server Error, webhook silent.psap.perf did not answer in time"
    assert end.accounting.failed_by_cause == {cause: 8}
    assert {row["status"] for row in submission.rows("submissions")} == {500}


@pytest.mark.deep
def test_quota_of_no_pods_is_named(submission: Submission) -> None:
    submission.timeout_s = 4.0
    quotas = f"/api/v1/namespaces/{submission.namespace}/resourcequotas"

    async def scene() -> SessionEnd:
        async with submission.lab.client() as client:
            await make_namespace(client, submission.namespace)
            await post(client, quotas, {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}})
            while not (await client.request("GET", f"{quotas}/none")).document().get("status", {}).get("hard"):
                await asyncio.sleep(0.05)
        return await submission.run()

    end = asyncio.run(scene())
    assert end.accounting.running_by_cause == {"quota none exceeded": 10}
    check_fails(end, "not finished after 1 s: .*10 not finished .quota none exceeded: 10.", PerfError)


def test_full_disk_ends_the_recording_with_valid_accounts(lab: Lab, tmp_path: Path) -> None:
    arguments = {"scale_test_submit_count": 200, "scale_test_submit_namespace": "full"}
    process = lab.playbook(tmp_path, "scale_test_submit", **arguments)
    # limit each file of the process and its children to 100 kB
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (100_000, 100_000))
    output, _ = process.communicate(timeout=PATIENCE_S)
    run = next(tmp_path.iterdir())
    document = json.loads((run / "run.json").read_text())
    assert (document["status"], document["exit_code"]) == ("failed", 1), output
    assert "transitions.jsonl: File too large; the recording is complete up to here" in document["reason"]["why"]
    artifacts = next(run.glob("001__*/artifacts"))
    assert read_rows(artifacts / "transitions.jsonl")
    recording = json.loads((artifacts / "recording.json").read_text())
    assert recording["ended_by"] == "error"
    accounting = json.loads((artifacts / "accounting.json").read_text())
    assert accounting["submitted"] == len(read_rows(artifacts / "submissions.jsonl"))
    assert accounting["identity_holds"]


class FlowRun:
    """The flow as perfdrv runs it, submitting for some seconds."""

    def __init__(self, lab: Lab, runs: Path) -> None:
        self._runs = runs
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PERF_"))}
        path = f"{PROGRAMS}:{kept['PATH']}"
        self._environment = {**kept, "PATH": path, "PERF_LAB": lab.folder.name, "PERF_RUNS_DIR": str(runs)}

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(PROGRAMS / "perfdrv"), "run", *words],
            cwd=PROJECT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def start_submitting(self, *changes: str) -> subprocess.Popen[str]:
        """Start the flow with *changes* of settings; return after ten responses, five seconds before the last."""
        # the first attempt's objects stay, and the second one's accounting must exclude them
        settings = ("count=120", "rate=20", "preload_image=false", "clean_before=false", "clean_after=false")
        given = [word for setting in (*settings, *changes) for word in ("-s", f"scale_test_{setting}")]
        process = self.start("scale_test", "-i", "lab", "-p", "scale_test_smoke", *given)
        wait_until(lambda: any(len(read_rows(path)) >= 10 for path in self._runs.glob("*/**/submissions.jsonl")))
        return process

    def resume(self) -> str:
        process = self.start("--resume", "latest")
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, output
        return output

    def run(self) -> dict[str, Any]:
        (path,) = self._runs.glob("*/run.json")
        document: dict[str, Any] = json.loads(path.read_text())
        return document

    def artifacts(self) -> list[Path]:
        """Return the artifact directories of the attempts at the cell, in order."""
        return [path.parent for path in sorted(self._runs.glob("*/**/artifacts/submissions.jsonl"))]


def document(artifacts: Path, name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((artifacts / f"{name}.json").read_text())
    return loaded


@pytest.mark.deep
@pytest.mark.parametrize("how", [pytest.param(signal.SIGTERM), signal.SIGKILL])
def test_resume_continues_for_an_ended_client(lab: Lab, tmp_path: Path, how: signal.Signals) -> None:
    check_resumes(FlowRun(lab, tmp_path), how)


def check_resumes(driven: FlowRun, how: signal.Signals, *changes: str) -> None:
    """End a flow with *changes* of settings while it submits, and check that its second attempt is complete."""
    process = driven.start_submitting(*changes)
    process.send_signal(how)
    output, _ = process.communicate(timeout=PATIENCE_S)
    (first,) = driven.artifacts()
    rows = len(read_rows(first / "submissions.jsonl"))
    assert 10 <= rows < 120
    if how == signal.SIGTERM:
        assert process.returncode == 130, output
        assert document(first, "recording")["ended_by"] == "stop"
        accounting = document(first, "accounting")
        assert (accounting["submitted"], accounting["identity_holds"]) == (rows, True)
        assert driven.run()["status"] == "interrupted"
    else:
        assert document(first, "recording")["ended_by"] is None

    driven.resume()
    _again, second = driven.artifacts()
    accounting = document(second, "accounting")
    assert (accounting["asked"], accounting["completed"], accounting["identity_holds"]) == (120, 120, True)
    assert len(read_rows(first / "submissions.jsonl")) >= rows
    assert (driven.run()["status"], driven.run()["exit_code"]) == ("ok", 0)
    assert [attempt["status"] for attempt in driven.run()["attempts"]] == ["interrupted", "ok"]
