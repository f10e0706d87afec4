"""A temporary project whose only playbook is one of the task sets of `playbooks/shared`, played on a lab."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.integration.conftest import PROGRAMS, PROJECT, Lab

_LINKED = ("collections", "group_vars", "inventories", "presets", "playbooks/shared")
_CHANGED = re.compile(r"^\S+ +: ok=.* changed=(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """One play: exit code, output, number of changed tasks, and the names of its commands."""

    exit_code: int
    output: str
    changed: int
    commands: list[str]


@dataclass(frozen=True)
class TaskSets:
    """Plays the task sets; the project and its runs are in *root*."""

    root: Path
    lab: Lab
    cluster: Cluster

    def play(self, name: str, *options: str, **settings: Any) -> Outcome:
        """Play `playbooks/shared/NAME.yml` with settings, and options of ansible-playbook."""
        task = {"name": "Play", "ansible.builtin.include_tasks": f"shared/{name}.yml"}
        plays = [{"name": "Play", "hosts": "sutest", "gather_facts": False, "tasks": [task]}]
        (self.root / "playbooks/try.yml").write_text(yaml.safe_dump(plays, sort_keys=False))
        before = set(self._runs())
        done = subprocess.run(
            [
                str(PROGRAMS / "ansible-playbook"), "playbooks/try.yml", "-i", "inventories/lab",
                "-e", json.dumps(settings), *options,
            ],
            cwd=self.root,
            env=self.lab.environment(self.root / "runs"),
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        commands = sorted(
            path.parent.name for run in set(self._runs()) - before for path in run.glob("*__*/status.json")
        )
        changed = sum(map(int, _CHANGED.findall(done.stdout)))
        # without the numbers of their directories
        names = [name.partition("__")[2] for name in commands]
        return Outcome(done.returncode, done.stdout + done.stderr, changed, names)

    def _runs(self) -> list[Path]:
        folder = self.root / "runs"
        return list(folder.iterdir()) if folder.exists() else []


@contextmanager
def task_sets(root: Path, lab: Lab) -> Iterator[TaskSets]:
    """Create the project in *root*, an empty folder, for *lab*."""
    (root / "playbooks").mkdir()
    for name in _LINKED:
        (root / name).symlink_to(PROJECT / name)
    (root / "playbooks/group_vars").symlink_to(PROJECT / "group_vars")
    (root / "ansible.cfg").write_text((PROJECT / "ansible.cfg").read_text())
    cluster = Cluster(Access(kubeconfig=str(lab.kubeconfig)))
    try:
        yield TaskSets(root, lab, cluster)
    finally:
        cluster.close()
