"""Outcomes of workloads on a real control plane, and the recording when connections break."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import make_namespace
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.watch_requests import WatchRequest, watch

from tests.polling import PATIENCE_S

from .conftest import Submission

pytestmark = pytest.mark.lab

JOB = ResourceKind("batch/v1", "Job", "jobs")
SOME_FAIL = """
apiVersion: batch/v1
kind: Job
spec:
  backoffLimit: 0
  template:
{% if index % 3 == 0 %}
    metadata: {annotations: {lab.psap.perf/exit-code: "137", lab.psap.perf/reason: OOMKilled}}
{% endif %}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: x}]
"""


def test_pytorchjobs_with_workers_complete(submission: Submission) -> None:
    submission.kind, submission.count, submission.pods = "pytorchjob", 4, 3
    end = submission.submit()
    assert end.accounting.completed == 4
    pods = {row["name"] for row in submission.rows("transitions") if row["kind"] == "Pod"}
    assert len(pods) == 12
    assert {(row["gpus"], row["pods"]) for row in submission.rows("submissions")} == {(3, 3)}


def test_failed_pods_are_counted_by_reason(submission: Submission, tmp_path: Path) -> None:
    submission.template = tmp_path / "some_fail.yml.j2"
    submission.template.write_text(SOME_FAIL)
    end = submission.submit()
    assert (end.accounting.completed, end.accounting.failed) == (6, 4)
    assert end.accounting.failed_by_cause == {"OOMKilled (exit code 137)": 4}
    with pytest.raises(PerfError, match=r"\d+ of \d+ workloads failed, none may: .*OOMKilled"):
        requests.judge(end, max_failed=0, timeout_s=1.0)
    requests.judge(end, max_failed=4, timeout_s=1.0)


def sockets() -> int:
    """Return the number of open sockets of this process."""
    return sum(
        path.readlink().name.startswith("socket:") for path in Path("/proc/self/fd").iterdir() if path.is_symlink()
    )


@pytest.mark.deep
def test_no_connection_outlives_the_session(submission: Submission) -> None:
    submission.count = 1
    before = sockets()
    submission.submit()
    assert sockets() <= before


@pytest.mark.deep
def test_deleted_workloads_are_lost(submission: Submission) -> None:
    # three of them are deleted before that, even on a busy machine
    submission.duration_s = 8.0

    async def scene() -> SessionEnd:
        running = asyncio.create_task(submission.run())
        path = submission.folder / "artifacts" / "submissions.jsonl"
        while not path.exists() or len(path.read_text().splitlines()) < 10:
            await asyncio.sleep(0.05)
        names = [row["name"] for row in submission.rows("submissions")][:3]
        async with submission.lab.client() as client:
            for name in names:
                await client.request("DELETE", JOB.object(submission.namespace, name))
        return await running

    end = asyncio.run(scene())
    assert (end.accounting.completed, end.accounting.lost) == (7, 3)
    assert end.accounting.lost_by_cause == {"deleted before its end": 3}
    with pytest.raises(DataQualityError, match="3 lost"):
        requests.judge(end, max_failed=0, timeout_s=1.0)


def test_watch_alone_records_submissions_of_another(submission: Submission, tmp_path: Path) -> None:
    watched = tmp_path / "watched"
    (watched / "artifacts").mkdir(parents=True)
    endpoint = load_endpoint(submission.lab.kubeconfig)
    request = WatchRequest(
        place=requests.Place("watching", "own", watched, watched / "artifacts"),
        api_version="batch/v1",
        kind="Job",
        namespace=submission.namespace,
        selector=None,
        count=10,
        until="all_completed",
        timeout_s=PATIENCE_S,
    )

    async def scene() -> tuple[SessionEnd, SessionEnd]:
        async with submission.lab.client() as client:
            await make_namespace(client, submission.namespace)
        watching = asyncio.create_task(watch(endpoint, request, lambda: False))
        while not (watched / "artifacts" / "recording.json").exists():
            await asyncio.sleep(0.05)
        return await submission.run(), await watching

    own, seen = asyncio.run(scene())
    assert own.accounting.completed == seen.accounting.completed == 10
    assert seen.ended_by == "condition"
