"""A machine shared by all tests of this folder: a real sshd, a real podman."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.conftest import PROGRAMS, PROJECT
from tests.standins.hosts import machine


@dataclass(frozen=True)
class Machine:
    """A running machine."""

    folder: Path

    def start(self, runs: Path, *words: str) -> subprocess.Popen[str]:
        """Start a perfdrv command whose inventory is this machine; its runs go to *runs*."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PERF_", "KUBE"))}
        environment = {**kept, "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "PERF_RUNS_DIR": str(runs)}
        return subprocess.Popen(
            [str(PROGRAMS / "perfdrv"), *words],
            cwd=PROJECT,
            env={**environment, "ANSIBLE_NOCOLOR": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, runs: Path, *words: str) -> tuple[int, str]:
        """Run a command to its end; return its exit code and output."""
        process = self.start(runs, *words)
        output, _nothing = process.communicate()
        return process.returncode, output

    @property
    def words(self) -> list[str]:
        """Return the arguments that runs on the machine have in common."""
        settings = {
            "work_directory": self.folder / "work",
            "image": "localhost/hello:1",
            "sysbench_image": "localhost/tools:1",
            "iperf_image": "localhost/tools:1",
            "size_mib": 1,
            "seconds": 1,
        }
        given = [f"container_bench_{name}={value}" for name, value in settings.items()]
        return ["-i", str(self.folder / "hosts.yml"), *(word for each in given for word in ("-s", each))]

    def inside(self, *words: str) -> str:
        """Run a program on the machine as its user; return its output."""
        return machine.inside(self.folder, *words)

    def leftovers(self) -> list[str]:
        """Return the containers, images and files that a run left on the machine."""
        containers = self.inside("podman", "ps", "--all", "--external", "--quiet").split()
        images = self.inside("podman", "images", "--format", "{{.Repository}}").split()
        work = [str(path) for path in (self.folder / "work").iterdir()]
        return [*containers, *sorted(set(images) - {f"localhost/{name}" for name in machine.IMAGES}), *work]

    def stop_sshd(self) -> None:
        """Stop sshd and its connections, but not the processes that they started."""
        machine.stop_sshd(self.folder)

    def start_sshd(self) -> None:
        """Start sshd again."""
        machine.start_sshd(self.folder)


@pytest.fixture(scope="session", name="machine")
def _machine() -> Iterator[Machine]:
    # podman requires a short path, which the machine's user may enter
    folder = Path("/var/tmp", f"psap-perf-{secrets.token_hex(3)}")
    machine.up(folder)
    try:
        yield Machine(folder)
    finally:
        machine.down(folder)
