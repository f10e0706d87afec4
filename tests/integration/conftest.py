"""Labs for the tests that need one: one of each kind for the whole session, removed at its end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent
PRODUCTS = ("--with", "kueue", "--with", "ray", "--with", "training-operator")


@dataclass(frozen=True)
class Lab:
    """A running lab."""

    name: str
    kubeconfig: Path

    def environment(self, runs: Path) -> dict[str, str]:
        """Return the environment of a program that uses the lab and keeps its runs in *runs*."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PERF_"))}
        path = f"{PROGRAMS}:{os.environ['PATH']}"
        return {**kept, "PATH": path, "PERF_LAB": self.name, "PERF_RUNS_DIR": str(runs), "ANSIBLE_NOCOLOR": "1"}

    def run(self, runs: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the project on the lab; its runs go to *runs*."""
        return self.run_with(self.environment(runs), program, *words)

    def run_with(self, environment: dict[str, str], program: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the project in this environment."""
        return subprocess.run(
            [str(PROGRAMS / program), *words],
            cwd=PROJECT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, runs: Path, program: str, *words: str) -> subprocess.Popen[str]:
        """Start a program of the project on the lab, with errors in its standard output."""
        return subprocess.Popen(
            [str(PROGRAMS / program), *words],
            cwd=PROJECT,
            env=self.environment(runs),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


def perflab(*words: str) -> str:
    """Run perflab; return its standard output."""
    done = subprocess.run([str(PROGRAMS / "perflab"), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="session", name="shared_lab")
def _shared_lab() -> Iterator[Lab]:
    """Start a lab of the profile kubernetes with every product, 20 nodes; tests restore its state."""
    with lab_with("PERF_TEST_LAB", f"tests-{os.getpid()}", "--nodes", "20", *PRODUCTS, "--emulate", "runai") as lab:
        yield lab


@pytest.fixture(scope="session")
def openshift_lab() -> Iterator[Lab]:
    """Start a lab of the profile openshift with Kueue and Ray, 4 nodes; tests restore its state."""
    name = f"tests-openshift-{os.getpid()}"
    with lab_with("PERF_TEST_OPENSHIFT_LAB", name, "--profile", "openshift", *PRODUCTS, "--nodes", "4") as lab:
        yield lab


@pytest.fixture(scope="module")
def kserve_lab() -> Iterator[Lab]:
    """Start a lab of the profile kubernetes with KServe and the Gateway API, 2 nodes."""
    with lab_with("PERF_TEST_KSERVE_LAB", f"tests-kserve-{os.getpid()}", "--with", "kserve", "--nodes", "2") as lab:
        yield lab


@contextmanager
def lab_with(variable: str, name: str, *options: str) -> Iterator[Lab]:
    """Yield the lab that the environment's *variable* names, else start one with *options*."""
    given = os.environ.get(variable)
    if given:
        yield running_lab(given)
        return
    perflab("up", "--name", name, *options)
    try:
        yield running_lab(name)
    finally:
        perflab("down", "--name", name)


def running_lab(name: str) -> Lab:
    """Return the running lab of a name."""
    return Lab(name, Path(perflab("kubeconfig", "--name", name)))
