"""Submitting processes may die, be stopped or not start at any time: the accounts stay correct."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import signal
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, DataQualityError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.accounting import Accounting
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.progress import Progress
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import Folder
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.gathering import SubmitterHandle
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.process import LocalProcesses

from .fake_api import FakeApi
from .sessions import Scene, eventually, own_process
from .submitters import is_alive, once_created, pids, send

pytestmark = pytest.mark.slow


def test_killed_submitter_leaves_an_accounted_share(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=40, rate=40, submitters=2)
    scene.meanwhile = once_created(scene, 8, send(tmp_path, 1, signal.SIGKILL))
    end = scene.play()
    accounting = end.accounting
    assert end.ended_by == "condition"
    assert 20 < accounting.submitted < 40
    assert (accounting.completed, accounting.identity_holds) == (accounting.submitted, True)
    rows = scene.rows("submissions")
    by = Counter(row["submitter"] for row in rows)
    assert (by[0], by[1]) == (20, accounting.submitted - 20)
    assert len({row["index"] for row in rows}) == len(rows)
    unsent = f"{40 - accounting.submitted} not submitted"
    with pytest.raises(
        PerfError, match=rf"submitter 1 was killed by SIGKILL: .* {unsent}; .* of 40 workloads"
    ) as raised:
        requests.judge(end, max_failed=0, timeout_s=1.0)
    assert raised.value.exit_code == 1
    assert unsent in scene.document("recording")["error"]


@pytest.mark.parametrize(
    ("fault", "outcome", "counts", "exit_code"),
    [("hold", "existed", (5, 0), 1), ("stall", "failed", (4, 1), 1)],
)
def test_requests_of_a_dead_submitter_are_looked_up(
    tmp_path: Path, fault: str, outcome: str, counts: tuple[int, int], exit_code: int
) -> None:
    scene = Scene(tmp_path, count=6, submitters=2)

    async def meanwhile(api: FakeApi) -> None:
        api.complete_jobs = True
        stuck = tmp_path / "submitters" / "00" / "sending.jsonl", tmp_path / "submitters" / "01" / "sending.jsonl"
        # One of the two has the fault, the other one sends all of its requests.
        await eventually(lambda: all(path.exists() for path in stuck))
        await eventually(lambda: max(len(path.read_text().splitlines()) for path in stuck) == 3)
        await eventually(lambda: api.posts == 4)
        slow = min((0, 1), key=lambda number: len(stuck[number].read_text().splitlines()))
        os.kill(pids(tmp_path)[slow], signal.SIGKILL)

    scene.meanwhile = meanwhile
    end = scene.play(lambda api: api.post_faults.append(fault))
    assert (end.accounting.completed, end.accounting.failed) == (counts[0] - 1, counts[1])
    assert (end.accounting.submitted, end.accounting.lost, end.accounting.identity_holds) == (4, 0, True)
    (adopted,) = [row for row in scene.rows("submissions") if row["status"] is None]
    assert (adopted["outcome"], adopted["error"]) == (outcome, "its submitter died")
    if fault == "stall":
        assert end.accounting.failed_by_cause == {"not created: its submitter died": 1}
    with pytest.raises(PerfError, match="0 were answered, 1 looked up and 2 not submitted") as raised:
        requests.judge(end, max_failed=0, timeout_s=1.0)
    assert raised.value.exit_code == exit_code


def test_terminated_submitter_leaves_complete_files(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=40, rate=40, submitters=2)
    scene.meanwhile = once_created(scene, 8, send(tmp_path, 0, signal.SIGTERM))
    end = scene.play()
    done = scene.document("submitters/00/done")
    assert (done["ended_by"], done["sent"]) == ("stopped", done["answered"])
    assert len(scene.rows("submitters/00/submissions")) == done["sent"]
    assert end.accounting.submitted == 20 + done["sent"] == end.accounting.completed
    with pytest.raises(PerfError, match="submitter 0 was stopped from outside: "):
        requests.judge(end, max_failed=0, timeout_s=1.0)


def test_stop_ends_all_submitters(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=1000, rate=50, submitters=3, connections=3)

    async def stop(_api: FakeApi) -> None:
        scene.stop.set()

    scene.meanwhile = once_created(scene, 8, stop)
    end = scene.play()
    assert (end.ended_by, end.failure) == ("stop", None)
    assert 8 <= end.accounting.submitted == len(scene.rows("submissions")) < 1000
    assert end.accounting.identity_holds
    assert [scene.document(f"submitters/{number:02d}/done")["ended_by"] for number in range(3)] == ["stopped"] * 3


def test_recorder_error_leaves_no_process_and_correct_accounts(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=1000, rate=50, submitters=2)
    seen: list[int] = []

    async def blind(api: FakeApi) -> None:
        seen.extend(pids(tmp_path))
        api.refuse_lists = 403
        await api.compact()
        await api.disconnect()

    scene.meanwhile = once_created(scene, 8, blind)
    with pytest.raises(ClusterError, match="cannot list"):
        scene.play()
    assert len(seen) == 2
    assert not any(is_alive(pid) for pid in seen)
    accounting = scene.document("accounting")
    assert accounting["submitted"] == len(scene.rows("submissions"))
    assert accounting["identity_holds"]


@dataclass(frozen=True)
class Sickly:
    """Start processes of which one dies before it is ready."""

    healthy: LocalProcesses

    def start(self, folder: Folder, number: int) -> SubmitterHandle:
        started = self.healthy.start(folder, number)
        if number == 1:
            started.kill()
        return started


def test_no_workload_is_sent_if_one_submitter_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path, submitters=3, connections=3)
    monkeypatch.setattr(Scene, "starter", lambda self: Sickly(LocalProcesses(ApiEndpoint(self.api.server))))
    with pytest.raises(PerfError, match="not all submitters were ready: submitter 1 was killed by SIGKILL"):
        scene.play()
    assert scene.api is not None
    assert scene.api.posts == 0
    assert scene.document("accounting")["submitted"] == 0
    assert not (tmp_path / "submitters" / "go.json").exists()


def test_submitters_end_with_a_killed_coordinator(tmp_path: Path) -> None:
    process = subprocess.Popen(own_process(tmp_path, count=100000, rate=100, submitters=2))
    try:
        journal = tmp_path / "submissions.jsonl"
        asyncio.run(eventually(lambda: journal.exists() and journal.stat().st_size > 2000))
        started = pids(tmp_path)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert len(started) == 2
    asyncio.run(eventually(lambda: not any(is_alive(pid) for pid in started)))
    assert Scene(tmp_path).rows("submissions")


def test_full_disk_of_one_submitter_is_reported(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=40, rate=40, submitters=2)

    async def fill(_api: FakeApi) -> None:
        # like a full disk: the file may not grow
        size = (tmp_path / "submitters" / "01" / "submissions.jsonl").stat().st_size
        resource.prlimit(pids(tmp_path)[1], resource.RLIMIT_FSIZE, (size, size))

    scene.meanwhile = once_created(scene, 8, fill)
    end = scene.play()
    assert end.failure is not None
    # by done.json, or by the last line of its log if that file was too long for the disk, too
    assert re.match(r"submitter 1 (gave up \(|ended with exit code 1 \(Error: )cannot write ", end.failure)
    assert "File too large" in end.failure
    assert (end.accounting.completed, end.accounting.identity_holds) == (end.accounting.submitted, True)
    assert end.accounting.submitted == len(scene.rows("submissions"))


@pytest.mark.parametrize(("lost", "error"), [(1, DataQualityError), (0, PerfError)])
def test_loss_through_a_death_is_a_data_quality_issue(lost: int, error: type[PerfError]) -> None:
    accounting = Accounting(4, 3, 3 - lost, 0, lost, 0, {}, {}, ())
    progress = Progress("done", 4, 3, 0, 3 - lost, 0, lost, 0.0, 0.0, 1.0, 1.0)
    end = SessionEnd("condition", accounting, progress, "submitter 1 was killed by SIGKILL: 1 not submitted")
    with pytest.raises(PerfError, match=r"submitter 1 was killed .*; 3 of 4 workloads submitted: ") as raised:
        requests.judge(end, max_failed=0, timeout_s=1.0)
    assert type(raised.value) is error
