"""What `perfdrv new` creates runs without changes, measures and passes the checks, in a copy of the repository."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.integration.conftest import PROGRAMS, PROJECT, Lab

pytestmark = pytest.mark.deep
NOT_COPIED = {
    ".venv",
    ".git",
    "build",
    "dist",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".ansible",
    "__pycache__",
}
ROLES = "collections/ansible_collections/psap/perf/roles"
MADE = (f"{ROLES}/first_steps_start_pods", f"{ROLES}/nfd_start_pods", "playbooks/first_steps.yml",
        "playbooks/first_steps", "molecule/first_steps", "molecule/nfd")  # fmt: skip


@dataclass(frozen=True)
class Clone:
    """A copy of the repository, from which the programs run."""

    root: Path
    lab: Lab
    runs: Path

    def run(self, program: str, *words: str) -> str:
        """Run a program that succeeds; return its output."""
        packages = ":".join(str(self.root / package / "src") for package in ("driver", "analysis", "lab"))
        done = subprocess.run(
            [str(PROGRAMS / program), *words],
            cwd=self.root,
            env={**self.lab.environment(self.runs), "PYTHONPATH": packages, "KUBECONFIG": str(self.lab.kubeconfig)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


@pytest.fixture(scope="module", name="clone")
def _clone(shared_lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """Create a copy with a new flow, another command of it, a command in an existing group, and a KPI."""
    folder = tmp_path_factory.mktemp("new")
    root = folder / "project"

    def left_out(at: str, names: list[str]) -> set[str]:
        own = {"runs"} if Path(at) == PROJECT else set()
        return (own | NOT_COPIED) & set(names)

    shutil.copytree(PROJECT, root, symlinks=True, ignore=left_out)
    clone = Clone(root, shared_lab, folder / "runs")
    output = clone.run("perfdrv", "new", "flow", "first_steps")
    assert "  perfdrv run first_steps --site lab -p first_steps" in output
    clone.run("perfdrv", "new", "command", "nfd", "start-pods")
    clone.run("perfdrv", "new", "command", "first-steps", "stop-pods")
    words = ("--of", "pods.running_after_s", "--statistic", "p90", "--unit", "seconds", "--direction", "lower")
    clone.run("perfdrv", "new", "kpi", "first_steps", "slow_pods", *words, "--about", "Time of slow pods")
    return clone


def test_new_flow_runs_and_has_the_new_kpi(clone: Clone) -> None:
    clone.run("perfdrv", "run", "first_steps", "--site", "lab", "-p", "first_steps")
    (run,) = clone.runs.iterdir()
    kpis = {one["name"]: one for one in json.loads((run / "report/kpis.json").read_text())["kpis"]}
    assert kpis["pods_not_succeeded"]["value"] == 0
    slow = kpis["slow_pods"]
    # three pods have no P90
    assert (slow["unit"], slow["direction"], slow["value"]) == ("seconds", "lower", None)
    assert "From creation to running" in (run / "report/index.html").read_text()


def test_new_commands_have_a_scenario(clone: Clone) -> None:
    output = clone.run(
        "molecule", "--base-config", ".config/molecule/config.yml", "test", "--report", "--scenario-name", "first_steps"
    )
    assert "first_steps_stop_pods" in output


def test_new_files_are_well_formed(clone: Clone) -> None:
    assert "no problems found" in clone.run("perfdrv", "settings", "check")
    clone.run("ruff", "check", "--no-cache", ".")
    clone.run("ruff", "format", "--check", "--no-cache", ".")
    clone.run("yamllint", "--strict", *MADE)
    clone.run("ansible-lint", "--offline", "-q", *MADE)


def test_repository_checks_pass_with_new_files(clone: Clone) -> None:
    names = ("roles", "settings/test_repository.py", "test_links.py", "test_rooms.py")
    files = [f"tests/unit/{name}" for name in (*names, "analysis/workloads/test_first_steps.py")]
    files.append(
        "tests/integration/commands/test_strict_manifests.py::test_every_command_that_applies_manifests_is_tested"
    )
    ours = "first_steps or nfd_start_pods or pages or group or repository or link or rooms or applies_manifests"
    clone.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", ours, *files)
