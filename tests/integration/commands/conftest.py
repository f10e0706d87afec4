"""A temporary project: the real collection, and a few commands made for the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.polling import PATIENCE_S

PROJECT = Path(__file__).resolve().parents[3]
INVENTORY = {
    "all": {
        "vars": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable},
        "children": {"clusters": {"hosts": {"sutest": {}}}},
    }
}


@dataclass(frozen=True)
class Outcome:
    """One ansible-playbook run."""

    exit_code: int
    output: str
    directory: Path

    @property
    def run(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.directory / "run.json").read_text())
        return document

    def tree(self) -> list[str]:
        """Return the commands' directories, relative to the run's."""
        return sorted(str(path.parent.relative_to(self.directory)) for path in self.directory.rglob("status.json"))

    def status(self, directory: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.directory / directory / "status.json").read_text())
        return document


@dataclass(frozen=True)
class TemporaryProject:
    """A folder to run playbooks in."""

    root: Path

    def command(self, role: str, tasks: list[dict[str, Any]], options: dict[str, Any] | None = None) -> None:
        """Create a command that runs *tasks*."""
        spec = {"argument_specs": {"main": {"short_description": role, "options": options or {}}}}
        opening = {"role": "psap.perf.command", "command_changes_cluster": False}
        meta = {"allow_duplicates": True, "dependencies": [opening]}
        self.role(role, {"meta/main": meta, "meta/argument_specs": spec, "tasks/main": tasks})

    def role(self, role: str, documents: Mapping[str, Any]) -> None:
        """Create a role of *documents*, keyed by file name without extension."""
        for name, document in documents.items():
            path = self.root / "playbooks" / "roles" / role / f"{name}.yml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump(document, sort_keys=False))

    def playbook(self, plays: list[dict[str, Any]]) -> None:
        """Write ``playbooks/try.yml``; hosts default to sutest."""
        written = [{"hosts": "sutest", "gather_facts": False, **play} for play in plays]
        (self.root / "playbooks" / "try.yml").write_text(yaml.safe_dump(written, sort_keys=False))

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PERF_"))}
        return {**kept, "PERF_RUNS_DIR": str(self.root / "runs"), "ANSIBLE_NOCOLOR": "1"}

    def start(self, *words: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(Path(sys.executable).parent / "ansible-playbook"), "playbooks/try.yml", *words],
            cwd=self.root,
            env={**self.environment(), **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *words: str) -> Outcome:
        process = self.start(*words)
        output, _ = process.communicate(timeout=PATIENCE_S)
        return Outcome(process.returncode, output, self.latest())

    def latest(self) -> Path:
        return max((self.root / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> TemporaryProject:
    return temporary_project(tmp_path)


def temporary_project(root: Path) -> TemporaryProject:
    """Create the project in *root*, an empty folder."""
    (root / "collections").symlink_to(PROJECT / "collections")
    (root / "playbooks").mkdir()
    (root / "playbooks" / "shared").symlink_to(PROJECT / "playbooks" / "shared")
    # the clone's own, which a failed command's command.txt names
    (root / "playbooks" / "toolbox.yml").symlink_to(PROJECT / "playbooks" / "toolbox.yml")
    (root / "playbooks" / "action_plugins").symlink_to(PROJECT / "tests" / "data" / "action_plugins")
    (root / "inventory").mkdir()
    (root / "inventory" / "hosts.yml").write_text(yaml.safe_dump(INVENTORY))
    config = (PROJECT / "ansible.cfg").read_text().replace("inventories/local", "inventory")
    (root / "ansible.cfg").write_text(config)
    return TemporaryProject(root)
