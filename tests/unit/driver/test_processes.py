"""Worker processes leave nothing, regardless of their end."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from perfdrv.ansible.request import RunRequest
from perfdrv.ansible.worker import AnsibleEvent
from perfdrv.ansible.workers import InternalError, carry_out
from perfdrv.project import Project

pytestmark = pytest.mark.slow

# Leaves a temporary file that no atexit removes; writes its path, the home folder's files, and its parent's command.
PLAYBOOK = """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.command:
        argv:
          - "{{ ansible_playbook_python }}"
          - -c
          - |
            import json, os, pathlib, sys, tempfile
            facts = {"left": os.path.realpath(tempfile.mkstemp()[1])}
            facts["home"] = os.listdir(pathlib.Path.home() / ".ansible")
            facts["module"] = pathlib.Path(f"/proc/{os.getppid()}/cmdline").read_text()
            pathlib.Path(sys.argv[1]).write_text(json.dumps(facts))
          - "{{ facts_file }}"
"""


class Watcher:
    """Kill each started worker if requested."""

    def __init__(self, *, deadly: bool = False) -> None:
        self.deadly = deadly

    def started(self, request: RunRequest) -> None:
        """React to the start of a worker."""
        from ansible_collections.psap.perf.plugins.module_utils.base.processes import kill_descendants

        if self.deadly:
            kill_descendants(os.getpid())

    def event(self, request: RunRequest, event: AnsibleEvent) -> None:
        """Hear an event of Ansible."""

    def tick(self) -> None:
        """Do nothing, about four times a second."""


def descriptors() -> int:
    """Return the number of files that this process has open, including the one of this count."""
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def call(project: Project, tmp_path: Path) -> RunRequest:
    """Return a call of Ansible with a dedicated home."""
    playbook = tmp_path / "leaving.yml"
    playbook.write_text(PLAYBOOK, encoding="utf-8")
    for name in ("run", "home"):
        (tmp_path / name).mkdir()
    return RunRequest(
        project=project,
        flow="leaving",
        playbook=playbook,
        runs_root=tmp_path,
        run_directory=tmp_path / "run",
        extra_vars=(json.dumps({"facts_file": str(tmp_path / "facts.json")}),),
        environment={"HOME": str(tmp_path / "home")},
    )


def test_leftovers_of_ansible_go_with_the_private_directory(call: RunRequest, temporary: Path, tmp_path: Path) -> None:
    (finished,) = carry_out([call], 1, Watcher())
    assert finished.code == 0, "\n".join(finished.tail)
    facts = json.loads((tmp_path / "facts.json").read_text(encoding="utf-8"))
    assert Path(facts["left"]).is_relative_to(temporary)
    assert list(temporary.iterdir()) == []
    # The default folder of Ansible's main process, which may hold decrypted files
    assert "tmp" not in facts["home"]
    # A pipe passed the module: a file of it would contain its arguments.
    assert "AnsiballZ" not in facts["module"]


def test_ended_worker_holds_nothing_while_others_continue(call: RunRequest, temporary: Path) -> None:
    opened = descriptors()
    for finished in carry_out([call] * 3, 1, Watcher(deadly=True)):
        assert finished.code is None
        assert list(temporary.iterdir()) == []
        # The selector
        assert descriptors() == opened + 1


def test_worker_that_cannot_start_leaves_nothing(call: RunRequest, temporary: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(carry_out([replace(call, project=Project(temporary / "nowhere"))], 1, Watcher()))
    assert list(temporary.iterdir()) == []


def test_worker_that_dies_early_is_reported_by_its_last_output(call: RunRequest, temporary: Path) -> None:
    # More output than a pipe holds, for a Python without its standard library
    broken = replace(call, environment={"PYTHONHOME": str(temporary)}, extra_vars=("x" * (1 << 20),))
    with pytest.raises(InternalError, match="ended with exit code 1 and no result"):
        list(carry_out([broken], 1, Watcher()))
    assert list(temporary.iterdir()) == []
