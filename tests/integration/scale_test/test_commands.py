"""The commands of the scale test as a user runs them, on a real control plane."""

from __future__ import annotations

import collections
import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.polling import PATIENCE_S, wait_until

from .conftest import Lab, read_rows

pytestmark = pytest.mark.lab


def run(lab: Lab, runs: Path, command: str, **arguments: Any) -> tuple[int, str, Path]:
    """Run a command; return exit code, output and artifact directory."""
    process = lab.playbook(runs, command, **arguments)
    output, _ = process.communicate(timeout=PATIENCE_S)
    latest = max(runs.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    return process.returncode, output, next(latest.glob("001__*")) / "artifacts"


@pytest.mark.deep
def test_two_hundred_jobs_are_accounted_for_and_cleaned_up(lab: Lab, tmp_path: Path) -> None:
    code, output, artifacts = run(lab, tmp_path, "scale_test_submit", scale_test_submit_count=200)
    assert code == 0, output
    accounting = json.loads((artifacts / "accounting.json").read_text())
    assert (accounting["submitted"], accounting["completed"], accounting["identity_holds"]) == (200, 200, True)
    counts = collections.Counter((row["kind"], row["transition"]) for row in read_rows(artifacts / "transitions.jsonl"))
    for word in ("created", "scheduled", "running", "succeeded"):
        assert counts["Pod", word] == 200
    for word in ("created", "started", "completed"):
        assert counts["Job", word] == 200
    assert len({row["uid"] for row in read_rows(artifacts / "submissions.jsonl")}) == 200
    scheduled = [row for row in read_rows(artifacts / "events.jsonl") if row["reason"] == "Scheduled"]
    assert {row["resolution_s"] for row in scheduled} == {0.000001}
    assert all(row["workload"] for row in scheduled)

    code, output, _ = run(lab, tmp_path, "scale_test_cleanup")
    assert (code, "changed=2" in output) == (0, True), output
    code, output, _ = run(lab, tmp_path, "scale_test_cleanup")
    assert (code, "changed=0" in output) == (0, True), output


def test_stopped_run_ends_with_its_accounts(lab: Lab, tmp_path: Path) -> None:
    arguments = {"scale_test_submit_count": 5000, "scale_test_submit_rate": 20.0, "scale_test_submit_namespace": "stop"}
    process = lab.playbook(tmp_path, "scale_test_submit", **arguments)
    wait_until(lambda: any(tmp_path.glob("*/001__*/artifacts/submissions.jsonl")))
    next(tmp_path.iterdir()).joinpath("stop").touch()
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert "interrupted: " in output
    artifacts = next(tmp_path.glob("*/001__*/artifacts"))
    assert json.loads((artifacts / "recording.json").read_text())["ended_by"] == "stop"
    accounting = json.loads((artifacts / "accounting.json").read_text())
    assert accounting["identity_holds"]
    assert accounting["submitted"] == len(read_rows(artifacts / "submissions.jsonl")) < 5000


def processes_with(folder: Path) -> list[str]:
    """Return the command lines, or environments, of live processes that contain a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            text = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            if str(folder).encode() in text and process.name != str(os.getpid()):
                found.append(process.name)
    return found


def test_kill_leaves_written_data_and_no_process(lab: Lab, tmp_path: Path) -> None:
    arguments = {"scale_test_submit_count": 5000, "scale_test_submit_rate": 20.0, "scale_test_submit_namespace": "kill"}
    process = lab.playbook(tmp_path, "scale_test_submit", **arguments)
    rows = "*/001__*/artifacts/submissions.jsonl"
    wait_until(lambda: any(path.stat().st_size > 2000 for path in tmp_path.glob(rows)))
    assert len(processes_with(tmp_path)) >= 3
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    # Ansible's workers, and the processes that they started (the scraper of metrics)
    wait_until(lambda: not processes_with(tmp_path))
    journal = next(tmp_path.glob(rows))
    written = len(read_rows(journal))
    assert written > 0
    assert json.loads((journal.parent / "recording.json").read_text())["ended_by"] is None
    assert json.loads((journal.parent / "progress.json").read_text())["phase"] == "submitting"
    assert read_rows(journal.parent / "transitions.jsonl")


def test_count_out_of_range_is_refused_before_any_change(lab: Lab, tmp_path: Path) -> None:
    code, output, artifacts = run(lab, tmp_path, "scale_test_submit", scale_test_submit_count=0)
    assert code == 2
    assert "count is 0; it must be at least 1" in output
    assert not list(artifacts.iterdir())
