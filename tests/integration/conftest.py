"""A lab for the tests that need one: one for the whole session, and nothing of it left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent


@dataclass(frozen=True)
class Lab:
    """A running lab."""

    name: str
    kubeconfig: Path

    def environment(self, runs: Path) -> dict[str, str]:
        """For a program that is to use the lab and keep its runs in *runs*."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PERF_"))}
        path = f"{PROGRAMS}:{os.environ['PATH']}"
        return {**kept, "PATH": path, "PERF_LAB": self.name, "PERF_RUNS_DIR": str(runs), "ANSIBLE_NOCOLOR": "1"}


def perflab(*words: str) -> str:
    """Run perflab; its standard output."""
    done = subprocess.run([str(PROGRAMS / "perflab"), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="session", name="shared_lab")
def _shared_lab() -> Iterator[Lab]:
    name = f"tests-{os.getpid()}"
    perflab("up", "--name", name, "--nodes", "8")
    try:
        yield Lab(name, Path(perflab("kubeconfig", "--name", name)))
    finally:
        perflab("down", "--name", name)
