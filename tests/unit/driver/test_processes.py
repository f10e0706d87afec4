"""Worker processes: what is left of each when it has ended, however that was."""

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

# leaves a temporary file that no atexit removes, and says where it is, what there is at home, and whose child it is
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
            told = {"left": os.path.realpath(tempfile.mkstemp()[1])}
            told["home"] = os.listdir(pathlib.Path.home() / ".ansible")
            told["module"] = pathlib.Path(f"/proc/{os.getppid()}/cmdline").read_text()
            pathlib.Path(sys.argv[1]).write_text(json.dumps(told))
          - "{{ told }}"
"""


class Watcher:
    """Kills each worker when it has been started, if asked to."""

    def __init__(self, *, deadly: bool = False) -> None:
        self.deadly = deadly

    def started(self, request: RunRequest) -> None:
        """Hear that a worker has been started."""
        from ansible_collections.psap.perf.plugins.module_utils.base.processes import kill_descendants

        if self.deadly:
            kill_descendants(os.getpid())

    def event(self, request: RunRequest, event: AnsibleEvent) -> None:
        """Hear an event of Ansible."""

    def tick(self) -> None:
        """Be called about four times a second."""


def descriptors() -> int:
    """How many files this process has open, counting its look at them."""
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def asked(project: Project, tmp_path: Path) -> RunRequest:
    """A call of Ansible with a home of its own."""
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
        extra_vars=(json.dumps({"told": str(tmp_path / "told.json")}),),
        environment={"HOME": str(tmp_path / "home")},
    )


def test_leftovers_of_ansible_go_with_the_private_directory(asked: RunRequest, temporary: Path, tmp_path: Path) -> None:
    (finished,) = carry_out([asked], 1, Watcher())
    assert finished.code == 0, "\n".join(finished.tail)
    told = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
    assert Path(told["left"]).is_relative_to(temporary)
    assert list(temporary.iterdir()) == []
    # where Ansible's main process would have its folder, which may hold decrypted files
    assert "tmp" not in told["home"]
    # the module came through a pipe: a file of it would hold its arguments
    assert "AnsiballZ" not in told["module"]


def test_ended_worker_holds_nothing_while_others_continue(asked: RunRequest, temporary: Path) -> None:
    opened = descriptors()
    for finished in carry_out([asked] * 3, 1, Watcher(deadly=True)):
        assert finished.code is None
        assert list(temporary.iterdir()) == []
        # the selector
        assert descriptors() == opened + 1


def test_worker_that_cannot_start_leaves_nothing(asked: RunRequest, temporary: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(carry_out([replace(asked, project=Project(temporary / "nowhere"))], 1, Watcher()))
    assert list(temporary.iterdir()) == []


def test_worker_that_dies_early_is_reported_by_its_last_output(asked: RunRequest, temporary: Path) -> None:
    # more than a pipe holds, for a Python that finds no library of its own
    broken = replace(asked, environment={"PYTHONHOME": str(temporary)}, extra_vars=("x" * (1 << 20),))
    with pytest.raises(InternalError, match="ended with exit code 1 and no result"):
        list(carry_out([broken], 1, Watcher()))
    assert list(temporary.iterdir()) == []
