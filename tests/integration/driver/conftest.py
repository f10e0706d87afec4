"""perfdrv as a process on the demo project, with dedicated folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.integration.driver.killing import kill_all, processes, wait_until_all_have_ended
from tests.polling import PATIENCE_S

PERFDRV = Path(sys.executable).parent / "perfdrv"
DEADLINE_SECONDS = PATIENCE_S
# one cell at a time, and two concurrently where make test covers that elsewhere
JOBS = pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.deep)])
# settings of Ansible and of the project, and variables by which the driver would detect a CI system
_NOT_OURS = ("ANSIBLE_", "PERF_", "ARTIFACT_DIR", "SHARED_DIR", "GITHUB_", "JENKINS_", "JOB_")


@dataclass(frozen=True)
class ProgramResult:
    """A program that has ended."""

    code: int
    out: str
    err: str


@dataclass
class Driver:
    """Calls perfdrv; every process that it leaves is killed at the end of the test."""

    folder: Path
    project: Path
    variables: dict[str, str] = field(default_factory=dict)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def runs(self) -> Path:
        """The folder of all runs."""
        return self.folder / "runs"

    @property
    def temporary(self) -> Path:
        """The parent folder of private directories."""
        return self.folder / "tmp"

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start perfdrv."""
        self.temporary.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_OURS)}
        environment = {**kept, "PERF_RUNS_DIR": str(self.runs), "TMPDIR": str(self.temporary), **self.variables}
        process = subprocess.Popen(
            [str(PERFDRV), *words],
            cwd=self.project,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def end(self, process: subprocess.Popen[str]) -> ProgramResult:
        """Wait for the end of a program."""
        out, err = process.communicate(timeout=DEADLINE_SECONDS)
        assert "Traceback" not in out + err, out + err
        return ProgramResult(process.returncode, out, err)

    def __call__(self, *words: str) -> ProgramResult:
        """Run perfdrv to its end."""
        return self.end(self.start(*words))

    def run(self) -> Path:
        """Return the directory of the only run."""
        (directory,) = self.runs.iterdir()
        return directory

    def document(self) -> dict[str, Any]:
        """Return run.json of the only run."""
        document: dict[str, Any] = json.loads((self.run() / "run.json").read_text(encoding="utf-8"))
        return document

    def steps(self) -> dict[str, str]:
        """Return directory → status of each step of the only run."""
        shown = json.loads(self("runs", "show", "--json").out)
        found: dict[str, str] = {}
        waiting = list(shown["steps"])
        while waiting:
            step = waiting.pop()
            found[step["directory"]] = step["status"]
            waiting += step["steps"]
        return found

    def finalizer_statuses(self) -> list[str]:
        """Return the statuses of the finalizer in each attempt."""
        return [status for name, status in sorted(self.steps().items()) if name.endswith("__cleanup/001__demo__tidy")]

    def wait_for(self, pattern: str, text: str) -> Path:
        """Wait until a file of the run that matches a pattern contains a text; return its path."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            for path in self.runs.glob(f"*/{pattern}"):
                if text in path.read_text(encoding="utf-8"):
                    return path
            time.sleep(0.05)
        raise AssertionError(f"no {pattern} with {text} in {self.runs}: {sorted(self.runs.rglob('*'))}")

    def wait_for_sleep(self, cells: int = 1) -> None:
        """Wait until the long test of the demo flow runs in this many cells."""
        for cell in range(cells):
            self.wait_for(f"*cell__{cell}/*demo__sleep/status.json", '"running"')
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline and len(self.processes("sleep")) < cells:
            time.sleep(0.05)

    def processes(self, program: str) -> list[int]:
        """Return the IDs of this test's live processes of a program; their environment has the test's folder."""
        return list(processes(self.runs, program))


@pytest.fixture
def driver(demo: Path, tmp_path: Path) -> Iterator[Driver]:
    """Return the driver on the demo project."""
    made = Driver(tmp_path, demo)
    yield made
    for process in made.started:
        process.kill()
        process.communicate()
    kill_all(made.runs)


WaitGone = Callable[[str], None]


@pytest.fixture
def wait_gone(driver: Driver) -> WaitGone:
    """Return a function that waits until no process of the test runs a program."""

    return partial(wait_until_all_have_ended, driver.runs)
