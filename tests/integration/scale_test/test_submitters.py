"""Several submitting processes on a real control plane, and the state after they or Ansible are killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.churn import ChurnPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Priority

from tests.polling import PATIENCE_S, wait_until

from .conftest import Lab, Submission, read_rows

pytestmark = pytest.mark.lab

ARTIFACTS = "*/001__*/artifacts"


@pytest.mark.parametrize("submitters", [2, pytest.param(4, marks=pytest.mark.deep)])
def test_submitters_share_one_submission(submission: Submission, submitters: int) -> None:
    submission.count, submission.submitters = 80, submitters
    end = submission.submit()
    assert end.accounting.sentence() == "80 of 80 workloads submitted: 80 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    rows = submission.rows("submissions")
    assert {(row["index"], row["submitter"]) for row in rows} == {(index, index % submitters) for index in range(80)}
    assert len({row["uid"] for row in rows}) == 80
    created = [row for row in submission.rows("transitions") if (row["kind"], row["transition"]) == ("Job", "created")]
    assert len(created) == 80
    sent = {row["name"]: row["sent_s"] for row in rows}
    assert min(row["seen_s"] - sent[row["workload"]] for row in created) > 0
    assert submission.document("recording")["client"]["requests"]["answers"]["201"] >= 80


@pytest.mark.deep
def test_churned_gangs_come_from_several_submitters(submission: Submission) -> None:
    submission.count, submission.submitters, submission.gang = 6, 2, True
    submission.pods, submission.duration_s = 2, 6.0
    submission.priorities = [Priority("low", 0), Priority("high", 1000)]
    submission.churn = ChurnPlan(percent=50, period_s=1.0, rounds=1)
    accounting = submission.submit().accounting
    assert (accounting.submitted, accounting.completed, accounting.churned) == (9, 6, 3)
    assert accounting.identity_holds
    rows = submission.rows("submissions")
    first = {(row["index"], row["submitter"], row["priority"]) for row in rows if row["round"] == 0}
    assert first == {(index, index % 2, 1000 * (index % 2)) for index in range(6)}
    groups = [row for row in submission.rows("transitions") if row["kind"] == "PodGroup"]
    assert len([row for row in groups if row["transition"] == "created"]) == 9


class Command:
    """The command as a user runs it, with two submitters."""

    def __init__(self, lab: Lab, runs: Path, **arguments: Any) -> None:
        self.lab = lab
        self.runs = runs
        self.namespace = f"two-{runs.name.replace('_', '-')[:40]}"
        self.process = lab.playbook(
            runs,
            "scale_test_submit",
            scale_test_submit_namespace=self.namespace,
            scale_test_submit_submitters=2,
            scale_test_submit_rate=20.0,
            **arguments,
        )

    @property
    def artifacts(self) -> Path:
        return next(self.runs.glob(ARTIFACTS))

    def wait_for_rows(self) -> None:
        """Wait until each of the submitters has several responses."""
        wait_until(lambda: all(count >= 3 for count in self._answered()))

    def _answered(self) -> list[int]:
        rows = [row for path in self.runs.glob(f"{ARTIFACTS}/submissions.jsonl") for row in read_rows(path)]
        return [sum(row["submitter"] == number for row in rows) for number in range(2)]

    def jobs(self) -> list[str]:
        """Return the names of the Jobs in the cluster, in order."""

        async def listed() -> list[str]:
            async with self.lab.client() as client:
                items = (await client.request("GET", f"/apis/batch/v1/namespaces/{self.namespace}/jobs")).document()
            return sorted(item["metadata"]["name"] for item in items["items"])

        return asyncio.run(listed())

    def pids(self) -> list[int]:
        ready = sorted(self.artifacts.glob("submitters/*/ready.json"))
        return [int(json.loads(path.read_text())["pid"]) for path in ready]

    def document(self, name: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.artifacts / f"{name}.json").read_text())
        return document


def gone(pids: list[int]) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_killed_submitter_fails_the_command_with_its_accounts(lab: Lab, tmp_path: Path) -> None:
    command = Command(lab, tmp_path, scale_test_submit_count=100)
    command.wait_for_rows()
    os.kill(command.pids()[1], signal.SIGKILL)
    output, _ = command.process.communicate(timeout=PATIENCE_S)
    assert json.loads((command.artifacts.parents[1] / "run.json").read_text())["exit_code"] == 1, output
    accounting = command.document("accounting")
    assert 50 < accounting["submitted"] < 100
    rows = read_rows(command.artifacts / "submissions.jsonl")
    assert Counter(row["submitter"] for row in rows) == {0: 50, 1: accounting["submitted"] - 50}
    # what it had announced before the kill exists or not: the accounting agrees with the cluster
    made = [row["name"] for row in rows if row["uid"]]
    assert sorted(made) == command.jobs()
    unmade = accounting["submitted"] - len(made)
    assert (accounting["completed"], accounting["lost"], accounting["identity_holds"]) == (len(made), 0, True)
    assert accounting["failed_by_cause"] == ({"not created: its submitter died": unmade} if unmade else {})
    words = " ".join(output.split())
    assert "submitter 1 was killed by SIGKILL: " in words
    assert f"{100 - accounting['submitted']} not submitted; " in words


@pytest.mark.deep
def test_stop_ends_the_submitters_with_complete_files(lab: Lab, tmp_path: Path) -> None:
    command = Command(lab, tmp_path, scale_test_submit_count=5000)
    command.wait_for_rows()
    pids = command.pids()
    next(tmp_path.iterdir()).joinpath("stop").touch()
    output, _ = command.process.communicate(timeout=PATIENCE_S)
    assert "interrupted: " in output
    assert gone(pids)
    assert [command.document(f"submitters/{number:02d}/done")["ended_by"] for number in (0, 1)] == ["stopped"] * 2
    accounting = command.document("accounting")
    assert accounting["identity_holds"]
    assert accounting["submitted"] == len(read_rows(command.artifacts / "submissions.jsonl")) < 5000


@pytest.mark.deep
def test_kill_of_ansible_leaves_no_submitter(lab: Lab, tmp_path: Path) -> None:
    command = Command(lab, tmp_path, scale_test_submit_count=5000)
    command.wait_for_rows()
    pids = command.pids()
    assert len(pids) == 2
    assert not gone(pids)
    os.kill(command.process.pid, signal.SIGKILL)
    command.process.communicate()
    wait_until(lambda: gone(pids))
    assert read_rows(command.artifacts / "submissions.jsonl")
    assert command.document("recording")["ended_by"] is None
