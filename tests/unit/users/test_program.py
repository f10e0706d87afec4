"""The program of a user's pod, with a stand-in for the API server."""

from __future__ import annotations

import io
import json
import sys
import tarfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.programs import ROLES, loaded

PROGRAM = ROLES / "shared_local_ci_users/files/user.py"
PLAN: dict[str, Any] = {
    "job": "users",
    "namespace": "ci",
    "count": 2,
    "command": ["sh", "-c", "echo $PERF_USER_NAME $PERF_USER_SEED; exit 3"],
    "setup_command": [],
    "user_prefix": "user-",
    "namespace_prefix": "",
    "seed": 7,
    "batch_size": 1,
    "batch_delay_s": 0.3,
    "abort_on_failure": False,
}


@dataclass
class Api:
    """The stand-in: it starts users when they are ready, and stops them after their launch if *stops*."""

    stops: bool = False
    reports: list[dict[str, Any]] = field(default_factory=list)
    started: dict[str, str] = field(default_factory=dict)
    launched: threading.Event = field(default_factory=threading.Event)
    ready: threading.Event = field(default_factory=threading.Event)

    def patch(self, name: str, data: dict[str, str]) -> None:
        """Record a report, or a change of the start."""
        if name == "users-start":
            self.started.update(data)
            return
        report = json.loads(data["1"])
        self.reports.append(report)
        if "ready_at_s" in report:
            self.ready.set()
        if "launch_at_s" in report:
            self.launched.set()

    def watch(self, name: str, changed: Callable[[dict[str, str]], None]) -> None:
        """Report the start, and later the stop."""
        self.ready.wait(10.0)
        self.started["go"] = str(time.time())
        changed(self.started)
        if self.stops:
            self.launched.wait(10.0)
            time.sleep(0.1)
            changed({**self.started, "stop": "user 0 failed"})


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load the program, with its folders in a temporary one."""
    module = loaded(PROGRAM)
    (tmp_path / "control").mkdir()
    monkeypatch.setattr(module, "CONTROL", tmp_path / "control")
    monkeypatch.setattr(module, "STEPS", tmp_path / "control" / "steps.jsonl")
    monkeypatch.setattr(module, "ENDED", tmp_path / "control" / "ended")
    monkeypatch.setattr(module, "RELEASED", tmp_path / "control" / "released")
    monkeypatch.setattr(module, "ARTIFACTS", tmp_path / "artifacts")
    monkeypatch.setattr(module.signal, "signal", lambda *_: None)
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")
    return module


def run(program: ModuleType, monkeypatch: pytest.MonkeyPatch, api: Api, **changes: Any) -> tuple[int, dict[str, Any]]:
    """Run user 1; return the exit code and the last report."""
    monkeypatch.setattr(program, "Api", lambda _namespace: api)
    code = program.User({**PLAN, **changes}).run()
    return int(code), api.reports[-1]


def test_user_starts_with_its_batch_and_reports(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    api = Api()
    code, report = run(program, monkeypatch, api)
    assert (code, report["exit_code"], report["stopped"]) == (3, 3, "")
    assert report["launch_at_s"] >= float(api.started["go"]) + 0.3
    assert report["setup_at_s"] <= report["ready_at_s"] <= report["launch_at_s"] <= report["end_at_s"]
    assert (tmp_path / "artifacts" / "log.txt").read_text() == "user-1 8\n"
    assert "stop" not in api.started


def test_failing_user_stops_the_others_if_asked(program: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api()
    run(program, monkeypatch, api, abort_on_failure=True)
    assert api.started["stop"] == "user 1 failed"


def test_failing_setup_launches_nothing(program: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code, report = run(program, monkeypatch, Api(), setup_command=["sh", "-c", "echo no; exit 5"])
    assert (code, report["exit_code"]) == (5, 5)
    assert "ready_at_s" not in report
    assert (tmp_path / "artifacts" / "setup.log").read_text() == "no\n"


def test_stopped_user_ends_its_command(program: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api(stops=True)
    code, report = run(program, monkeypatch, api, command=["sleep", "60"], batch_delay_s=0.0, abort_on_failure=True)
    assert (code, report["stopped"]) == (143, "coordinator")
    assert "stop" not in api.started


def test_missing_program_has_the_code_of_a_shell(program: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(program, monkeypatch, Api(), command=["no-such-program"], batch_delay_s=0.0)[0] == 127


def test_steps_are_recorded(program: ModuleType) -> None:
    assert program.main(["step", "login", sys.executable, "-c", "pass"]) == 0
    assert program.main(["step", "deploy", sys.executable, "-c", "raise SystemExit(4)"]) == 4
    found = program.steps()
    assert [(step["name"], step["failed"]) for step in found] == [("login", False), ("deploy", True)]
    assert all(step["end_s"] >= step["start_s"] for step in found)


def test_unfinished_step_has_no_end(program: ModuleType) -> None:
    program.note({"name": "deploy", "start_s": 1.0, "end_s": None, "failed": False})
    assert program.steps() == [{"name": "deploy", "start_s": 1.0, "end_s": None, "failed": False}]


def test_artifacts_are_sent_without_links(program: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "artifacts" / "sub").mkdir(parents=True)
    (tmp_path / "artifacts" / "sub" / "file").write_text("text")
    (tmp_path / "artifacts" / "link").symlink_to("/etc/passwd")
    sent = io.BytesIO()
    monkeypatch.setattr(program.sys, "stdout", io.TextIOWrapper(sent))
    assert program.main(["send"]) == 0
    sent.seek(0)
    with tarfile.open(fileobj=sent) as archive:
        assert archive.getnames() == ["sub/file"]


def test_second_container_sends_the_files_until_this_succeeds(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sender = tmp_path / "export.py"
    sender.write_text(
        "import pathlib, sys\n"
        "tries = pathlib.Path(sys.argv[0]).with_name('tries')\n"
        "tries.open('a').write('x')\n"
        "if tries.read_text() == 'x': sys.exit(1)\n"
        "tries.with_name('control').joinpath('released').touch()\n"
    )
    (tmp_path / "plan.json").write_text(json.dumps({"export": {"bucket": "runs"}}))
    monkeypatch.setattr(program, "PLAN", tmp_path / "plan.json")
    monkeypatch.setattr(program, "EXPORT", sender)
    monkeypatch.setattr(program, "EXPORT_AGAIN_S", 0.0)
    program.ENDED.touch()
    assert program.main(["serve"]) == 0
    assert (tmp_path / "tries").read_text() == "xx"


def test_unknown_words_are_refused(program: ModuleType) -> None:
    assert program.main(["other"]) == 2
