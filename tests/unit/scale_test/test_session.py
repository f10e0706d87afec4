"""A session writes complete files and correct accounts for every end and every fault of the server."""

from __future__ import annotations

import asyncio
import collections
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RetryPolicy
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.hindrances import hindrance
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.ledger import Ledger
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.accounting import account
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.until import condition
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import SubmissionRow

from .fake_api import CREATED_AT, NODES, FakeApi
from .sessions import EVENTS, JOBS, PODS, SUBMISSION, Scene, complete_all, eventually, own_process

pytestmark = pytest.mark.slow

NAMES = [SUBMISSION.name(index) for index in range(10)]


def all_submitted(scene: Scene, api: FakeApi) -> bool:
    return len(api.objects.get(JOBS, {})) == scene.count


def count_names(scene: Scene, word: str) -> collections.Counter[str]:
    return collections.Counter(row["name"] for row in scene.rows("transitions") if row["transition"] == word)


def test_completed_session_agrees_in_every_file(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=7)
    end = scene.play(complete_all)
    assert end.ended_by == "condition"
    assert end.accounting.sentence() == "7 of 7 workloads submitted: 7 completed, 0 failed, 0 lost"
    accounting = scene.document("accounting")
    assert (accounting["completed"], accounting["identity_holds"]) == (7, True)
    recording = scene.document("recording")
    assert recording["ended_by"] == "condition"
    assert recording["started_s"] <= recording["synced_s"] <= recording["ended_s"]
    assert [row["kind"] for row in recording["resources"]] == ["Job", "Pod", "Event"]
    assert recording["lab"]["simulated"] == ["nodes", "pods"]
    assert scene.document("nodes")["nodes"] == [{"name": "node-0000", "gpus": 8, "domains": []}]
    progress = scene.document("progress")
    assert (progress["phase"], progress["summary"]) == ("done", end.accounting.sentence())
    for word in ("created", "started", "completed"):
        assert count_names(scene, word) == dict.fromkeys(NAMES[:7], 1)


def test_submission_begins_after_every_watch_is_in_sync(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.play(complete_all)
    synced = scene.document("recording")["synced_s"]
    assert min(row["sent_s"] for row in scene.rows("submissions")) >= synced


def test_failed_refused_and_deleted_workloads_are_counted_by_cause(tmp_path: Path) -> None:
    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 4)
        jobs = sorted(api.objects[JOBS])
        labels = {"psap.perf/workload": jobs[0]}
        status = {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]}
        pod = {"metadata": {"name": f"{jobs[0]}-x", "namespace": "test", "labels": labels}, "status": status}
        await api.create(PODS, pod)
        await asyncio.sleep(0.1)
        await api.fail(JOBS, jobs[0], "BackoffLimitExceeded")
        await api.fail(JOBS, jobs[1], "DeadlineExceeded")
        await api.delete(JOBS, jobs[2])
        await api.complete(JOBS, jobs[3])

    scene = Scene(tmp_path, count=5, connections=1, meanwhile=meanwhile)
    accounting = scene.play(lambda api: api.post_faults.append(403)).accounting
    assert (accounting.completed, accounting.failed, accounting.lost) == (1, 3, 1)
    assert accounting.failed_by_cause == {
        "DeadlineExceeded": 1,
        "Error (exit code 3)": 1,
        "refused: 403 Forbidden": 1,
    }
    assert accounting.lost_by_cause == {"deleted before its end": 1}
    assert accounting.identity_holds


def test_workload_deleted_after_its_end_is_not_lost(tmp_path: Path) -> None:
    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 2)
        await api.complete(JOBS, NAMES[0])
        await api.delete(JOBS, NAMES[0])
        await api.complete(JOBS, NAMES[1])

    accounting = Scene(tmp_path, count=2, meanwhile=meanwhile).play().accounting
    assert (accounting.completed, accounting.lost) == (2, 0)


def test_broken_connection_loses_and_duplicates_nothing(tmp_path: Path) -> None:
    async def meanwhile(api: FakeApi) -> None:
        for _cut in range(3):
            await asyncio.sleep(0.1)
            await api.disconnect()
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 6)
        for name in sorted(api.objects[JOBS]):
            await api.disconnect()
            await api.complete(JOBS, name)

    scene = Scene(tmp_path, count=6, rate=20, meanwhile=meanwhile)
    assert scene.play().accounting.completed == 6
    for word in ("created", "started", "completed"):
        assert count_names(scene, word) == dict.fromkeys(NAMES[:6], 1)


def test_expired_version_is_relisted_without_loss_or_duplicates(tmp_path: Path) -> None:
    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 6)
        # during an interrupted watch: one completes, one completes and is deleted, one is deleted
        await api.disconnect()
        await api.complete(JOBS, NAMES[0])
        await api.delete(JOBS, NAMES[1])
        await api.compact()
        lists = api.lists
        await eventually(lambda: api.lists > lists)
        for name in NAMES[2:6]:
            await api.complete(JOBS, name)

    scene = Scene(tmp_path, count=6, meanwhile=meanwhile)
    accounting = scene.play().accounting
    assert (accounting.completed, accounting.lost, accounting.identity_holds) == (5, 1, True)
    assert scene.document("recording")["relists"] >= 1
    assert count_names(scene, "created") == dict.fromkeys(NAMES[:6], 1)
    assert count_names(scene, "deleted") == {NAMES[1]: 1}


def test_earlier_events_of_the_namespace_are_not_recorded(tmp_path: Path) -> None:
    def event(name: str, regarding: str) -> dict[str, object]:
        return {
            "metadata": {"name": name},
            "involvedObject": {"kind": "Pod", "name": regarding},
            "eventTime": CREATED_AT,
        }

    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 3)
        await api.create(EVENTS, event("new", f"{NAMES[1]}-abcde"))

    def prepare(api: FakeApi) -> None:
        complete_all(api)
        api.objects[EVENTS] = {"old": {**event("old", "x"), "metadata": {"name": "old", "uid": "old"}}}

    scene = Scene(tmp_path, meanwhile=meanwhile)
    scene.play(prepare)
    assert [(row["name"], row["workload"]) for row in scene.rows("events")] == [(f"{NAMES[1]}-abcde", NAMES[1])]


def test_timeout_counts_the_rest_as_running(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=3, timeout_s=0.4)
    end = scene.play()
    assert end.ended_by == "timeout"
    assert scene.document("recording")["ended_by"] == "timeout"
    assert (end.accounting.submitted, end.accounting.running, end.accounting.identity_holds) == (3, 3, True)


def warning(workload: str, reason: str, message: str) -> dict[str, Any]:
    """Return an event of the Job controller."""
    return {
        "metadata": {"name": f"{workload}.1", "namespace": "test"},
        "involvedObject": {"kind": "Job", "name": workload, "namespace": "test"},
        "type": "Warning",
        "reason": reason,
        "message": message,
    }


def test_timeout_names_the_quota_that_kept_workloads_from_running(tmp_path: Path) -> None:
    message = 'Error creating: pods "{}-x" is forbidden: exceeded quota: no-pods, requested: pods=1, used: pods=0'

    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(scene.rows("transitions")) >= 3)
        for name in NAMES[:2]:
            await api.create(EVENTS, warning(name, "FailedCreate", message.format(name)))
        labels = {"psap.perf/workload": NAMES[2]}
        running = {"metadata": {"name": f"{NAMES[2]}-x", "namespace": "test", "labels": labels}}
        await api.create(PODS, {**running, "status": {"phase": "Running"}})

    scene = Scene(tmp_path, count=4, timeout_s=1.0, meanwhile=meanwhile)
    end = scene.play()

    causes = {"no pod runs": 1, "quota no-pods exceeded": 2, "running": 1}
    assert scene.document("accounting")["running_by_cause"] == causes
    with pytest.raises(PerfError) as raised:
        requests.judge(end, max_failed=0, timeout_s=1.0)
    assert str(raised.value) == (
        "not finished after 1 s: 4 of 4 workloads submitted: 0 completed, 0 failed, 0 lost, 4 not finished (no pod "
        "runs: 1, quota no-pods exceeded: 2, running: 1); see events.jsonl; raise the timeout if they only need longer"
    )


@pytest.mark.parametrize(
    ("reason", "message", "cause"),
    [
        (
            "FailedScheduling",
            "0/5 nodes are available: 1 node(s) had untolerated taint {a: b}, 4 Insufficient nvidia.com/gpu. "
            "preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.",
            "node(s) had untolerated taint {a: b}, Insufficient nvidia.com/gpu",
        ),
        (
            "Pending",
            "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor default",
            "insufficient unused quota for nvidia.com/gpu",
        ),
        ("FailedCreate", 'failed calling webhook "w.x": connection refused', "webhook w.x could not be called"),
        ("FailedMount", "MountVolume.SetUp failed", "FailedMount"),
        ("FailedMount", None, "FailedMount"),
    ],
)
def test_warning_is_counted_by_its_reason(reason: str, message: str | None, cause: str) -> None:
    row = {"type": "Warning", "reason": reason, "message": message}
    assert hindrance(row) == cause
    assert hindrance({**row, "type": "Normal"}) is None


def test_stop_leaves_complete_files(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=1000, rate=50)

    async def stop(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) >= 5)
        scene.stop.set()

    scene.meanwhile = stop
    end = scene.play()
    assert end.ended_by == "stop"
    assert 5 <= end.accounting.submitted < 1000
    assert len(scene.rows("submissions")) == end.accounting.submitted
    assert end.accounting.identity_holds


def test_workload_unseen_because_of_a_stop_is_running_not_lost(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=4)

    async def stop(_api: FakeApi) -> None:
        await eventually(lambda: len(scene.rows("submissions")) == 4)
        scene.stop.set()

    scene.meanwhile = stop
    accounting = scene.play(lambda api: api.withheld.add("ADDED")).accounting
    assert (accounting.running, accounting.lost, accounting.identity_holds) == (4, 0, True)


@pytest.mark.parametrize(("settled_s", "running"), [(9.0, 1), (11.0, 0)])
def test_workload_created_long_ago_and_never_seen_is_lost(settled_s: float, running: int) -> None:
    created = SubmissionRow(0, "a", sent_s=9.5, answered_s=10.0, status=201, outcome="created", attempts=1, uid="u")
    accounting = account(1, 1, {"a": created}, Ledger({}), settled_s=settled_s)
    assert (accounting.running, accounting.lost, accounting.identity_holds) == (running, 1 - running, True)


def test_stop_before_the_watches_are_in_sync_submits_nothing(tmp_path: Path) -> None:
    scene = Scene(tmp_path)

    async def stop(api: FakeApi) -> None:
        await eventually(lambda: api.lists >= 1)
        scene.stop.set()

    scene.meanwhile = stop
    scene.policy = RetryPolicy()

    def silent(api: FakeApi) -> None:
        api.refuse_lists = 503

    end = scene.play(silent)
    assert (end.ended_by, end.accounting.submitted, end.accounting.planned) == ("stop", 0, 3)


def test_error_leaves_complete_files(tmp_path: Path) -> None:
    scene = Scene(tmp_path)

    def without_jobs(api: FakeApi) -> None:
        api.forbidden.add(NODES)
        api.refuse_lists = 403

    with pytest.raises(ClusterError, match="cannot list"):
        scene.play(without_jobs)
    recording = scene.document("recording")
    assert recording["ended_by"] == "error"
    assert "cannot list" in recording["error"]
    assert scene.document("accounting")["submitted"] == 0
    assert scene.document("nodes") == {"schema": "psap.perf/nodes/1", "levels": [], "nodes": [], "listed": False}


def test_full_disk_is_one_error_with_complete_rows_and_accounts(tmp_path: Path) -> None:
    limited = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))"
    )
    words = own_process(tmp_path, before=limited, count=500, rate=200)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "File too large; the recording is complete up to here" in done.stderr
    scene = Scene(tmp_path)
    assert 0 < len(scene.rows("transitions")) < 500
    assert scene.document("recording")["ended_by"] == "error"
    assert "File too large" in scene.document("recording")["error"]
    assert scene.document("accounting")["identity_holds"]


def test_files_are_readable_after_a_kill(tmp_path: Path) -> None:
    process = subprocess.Popen(own_process(tmp_path, count=100000, rate=100))
    try:
        scene = Scene(tmp_path)
        # Each one is written separately.
        journals = [tmp_path / f"{name}.jsonl" for name in ("transitions", "submissions")]
        asyncio.run(eventually(lambda: all(path.exists() and path.stat().st_size > 2000 for path in journals)))
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert all(row["transition"] == "created" for row in scene.rows("transitions"))
    assert scene.rows("submissions")
    assert scene.document("recording")["ended_by"] is None
    assert scene.document("progress")["phase"] == "submitting"


def foreign(name: str, *, ended: bool = False) -> dict[str, object]:
    conditions = [{"type": "Complete", "status": "True"}] if ended else []
    labels = {"psap.perf/submission": SUBMISSION.identity}
    return {"metadata": {"name": name, "labels": labels}, "status": {"conditions": conditions}}


def test_watch_alone_records_foreign_submissions(tmp_path: Path) -> None:
    async def others(api: FakeApi) -> None:
        await eventually(lambda: api.watches_opened >= 3)
        for name in ("theirs-a", "theirs-b"):
            await api.create(JOBS, foreign(name))
            await asyncio.sleep(0.15)
        await api.complete(JOBS, "theirs-a")
        await api.delete(JOBS, "theirs-b")

    scene = Scene(tmp_path, count=0, planned=2, meanwhile=others)

    def prepare(api: FakeApi) -> None:
        api.objects[JOBS] = {"before": {**foreign("before", ended=True)}}
        api.objects[JOBS]["before"]["metadata"]["uid"] = "before"

    accounting = scene.play(prepare).accounting
    assert (accounting.submitted, accounting.completed, accounting.lost) == (2, 1, 1)
    assert "before" not in {row["name"] for row in scene.rows("transitions")}
    assert not (tmp_path / "submissions.jsonl").exists()


def test_watch_ends_by_a_condition_on_the_progress(tmp_path: Path) -> None:
    async def others(api: FakeApi) -> None:
        await api.create(JOBS, foreign("theirs"))

    scene = Scene(tmp_path, count=0, until="submitted >= `1`", meanwhile=others)
    end = scene.play()
    assert (end.ended_by, end.accounting.running) == ("condition", 1)


@pytest.mark.parametrize("until", ["((", "completed >="])
def test_invalid_condition_is_refused(until: str) -> None:
    with pytest.raises(UsageError, match="neither all_completed nor JMESPath"):
        condition(until)


def test_unsubmitted_workload_breaks_the_accounting(tmp_path: Path) -> None:
    async def intruder(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) >= 1)
        await api.create(JOBS, foreign("intruder", ended=True))

    end = Scene(tmp_path, count=2, meanwhile=intruder).play(complete_all)
    assert not end.accounting.identity_holds
    assert end.accounting.discrepancies == ("1 workloads have our label but were not submitted: intruder",)


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PerfError, match="cannot write"):
        Scene(tmp_path / "missing").play(complete_all)
