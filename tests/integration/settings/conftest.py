"""A small temporary project, and real ansible-playbook runs in it. No cluster is needed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[3]
COLLECTION = REPOSITORY / "collections" / "ansible_collections" / "psap" / "perf"

FILES = {
    "playbooks/shared/settings.yml": """\
short_description: Shared
options:
  matrix_skip_if: {type: list, elements: str, default: [], description: Cells to leave out.}
  matrix_experiments: {type: list, elements: dict, default: [], description: What each experiment sets.}
""",
    "playbooks/tiny/settings.yml": """\
short_description: A tiny flow
options:
  tiny_count: {type: int, default: 1, dimension: true, description: How many.}
  tiny_kind: {type: str, choices: [Job, Pod], default: Job, dimension: true, description: What.}
  tiny_name: {type: str, default: nobody, description: Who.}
  tiny_flag: {type: bool, default: false, description: Whether.}
  tiny_rate: {type: float, default: 0.5, description: How fast.}
  tiny_items: {type: list, elements: str, default: [a], description: Which.}
  tiny_tree:
    type: dict
    default: {r: 1, inner: {alpha: 2, beta: 3}}
    dimension: [r]
    description: A tree.
  tiny_token: {type: str, no_log: true, description: A secret.}
rules:
  - assert: tiny_count < 100 or tiny_kind == "Job"
    message: 100 or more only as Jobs
""",
    "playbooks/tiny.yml": """\
- name: Settings
  hosts: localhost
  tasks:
    - name: Check
      psap.perf.settings:
        flow: tiny
      tags: always
""",
    "group_vars/all/tiny.yml": """\
repo_probe_name: "{{ tiny_name }}"
""",
    "presets/one.yml": """\
# presets/one.yml - one
preset_one:
  tiny_count: 4
  tiny_flag: true
""",
    "presets/base.yml": """\
preset_base:
  tiny_name: base
  tiny_count: 2
""",
    "presets/left.yml": """\
preset_left:
  extends: [base]
  tiny_rate: 1.5
  tiny_tree.r: 5
""",
    "presets/right.yml": """\
preset_right:
  tiny_count: 8
  extends: base
  tiny_items: [x, y]
  tiny_tree.inner.alpha: 9
""",
    "inventories/site/hosts.yml": """\
all:
  hosts:
    localhost:
  vars:
    ansible_connection: local
    ansible_python_interpreter: "{{ ansible_playbook_python }}"
  children:
    clusters:
      hosts:
        sutest:
    lanes:
      hosts:
        lane-a:
""",
    "roles/repo_probe/meta/argument_specs.yml": """\
argument_specs:
  main:
    short_description: Say what it was given
    options:
      repo_probe_name: {type: str, default: unbound, description: A name.}
      repo_probe_size: {type: int, default: 3, description: A size.}
""",
    "roles/repo_probe/tasks/main.yml": """\
- name: Show
  ansible.builtin.debug:
    msg: "RESULT {{ {'host': inventory_hostname, 'name': repo_probe_name, 'size': repo_probe_size} | to_json }}"
""",
}


@dataclass(frozen=True)
class Outcome:
    """The result of an ansible-playbook run."""

    code: int
    text: str
    settings: dict[str, Any] | None

    @property
    def message(self) -> str:
        """All output in one line, for messages that Ansible wraps or repeats."""
        return " ".join(self.text.split())

    @property
    def document(self) -> dict[str, Any]:
        """settings.yml."""
        assert self.code == 0, self.text
        assert self.settings is not None
        return self.settings

    @property
    def values(self) -> dict[str, Any]:
        """Name to value, for all hosts."""
        return {name: entry["value"] for name, entry in self.document["all"].items()}

    @property
    def results(self) -> list[dict[str, Any]]:
        """The values that tasks printed as ``RESULT {json}``."""
        assert self.code == 0, self.text
        found = re.findall(r'"msg": ("RESULT .*")', self.text)
        return [json.loads(json.loads(one).removeprefix("RESULT ")) for one in found]


class ProjectFolder:
    """A project that a test may change and run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environment: dict[str, str] = {}
        self.run_directory = root / "runs" / "one"
        for name, text in FILES.items():
            self.write(name, text)
        (root / "playbooks" / "group_vars").symlink_to("../group_vars")
        collection = root / "collections" / "ansible_collections" / "psap" / "perf"
        collection.mkdir(parents=True)
        for part in ("plugins", "meta", "galaxy.yml"):
            (collection / part).symlink_to(COLLECTION / part)
        (collection / "roles").symlink_to(root / "roles")
        configuration = (REPOSITORY / "ansible.cfg").read_text()
        # the callback would create run directories; these runs have one already
        self.write("ansible.cfg", re.sub(r"^callbacks_enabled.*\n", "", configuration, flags=re.MULTILINE))

    def write(self, name: str, text: str) -> Path:
        """Write a file of the project."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def process_environment(self) -> dict[str, str]:
        """Return the environment of a run; only the path is the caller's."""
        self.run_directory.mkdir(parents=True, exist_ok=True)
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.root),
            "PERF_RUN_DIR": str(self.run_directory),
            "ANSIBLE_HOME": str(self.root / ".ansible"),
            "ANSIBLE_NOCOLOR": "1",
            "LC_ALL": "C.UTF-8",
            **self.environment,
        }

    def run(self, *arguments: str, playbook: str = "playbooks/tiny.yml", site: str = "inventories/site") -> Outcome:
        """Run ansible-playbook, as a user would."""
        self.run_directory.mkdir(parents=True, exist_ok=True)
        (self.run_directory / "settings.yml").unlink(missing_ok=True)
        done = subprocess.run(
            ["ansible-playbook", "-i", site, playbook, *arguments],
            cwd=self.root,
            env=self.process_environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        recorded = self.run_directory / "settings.yml"
        settings = yaml.safe_load(recorded.read_text()) if recorded.exists() else None
        return Outcome(done.returncode, done.stdout, settings)


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    """Create a project."""
    return ProjectFolder(tmp_path / "project")
