"""The observation of Ansible: events and files are shown, Ctrl-C becomes a request to stop."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.processes import descendants, kill_descendants
from ansible_collections.psap.perf.plugins.module_utils.run.directory import STOP_FILE, make_room

from perfdrv.ansible.request import RunRequest
from perfdrv.ansible.worker import AnsibleEvent
from perfdrv.execution.interrupts import Interrupts
from perfdrv.runs.bookings import bookings
from perfdrv.runs.durations import utc_now
from perfdrv.runs.tree import RunTree, Step
from perfdrv.views.scene import Activity, Scene, View

STOPPING = "stopping: finalizers run; Ctrl-C again to stop immediately"
_DIFFERENCE = "runner_on_file_diff"
_REDRAW_SECONDS = 0.5
_REAP_SECONDS = 5.0


class Follower:
    """Watches the workers of one run, draws the run, and acts on Ctrl-C."""

    def __init__(self, scene: Scene, view: View, interrupts: Interrupts, verbosity: int = 0) -> None:
        self.scene = scene
        self.killed = False
        self._view = view
        self._interrupts = interrupts
        self._verbosity = verbosity
        self._tree = RunTree(scene.directory)
        self._drawn = 0.0
        # each attempt creates new directories, so steps of earlier attempts are not shown
        self._former = {step.directory for step in self._tree.steps()}
        self._active: set[Path] = set()

    @property
    def interrupted(self) -> bool:
        """Whether the user requested a stop."""
        return self._interrupts.count > 0

    def started(self, request: RunRequest) -> None:
        """Record a run directory that a request to stop concerns."""
        self._active.add(request.directory)

    def event(self, request: RunRequest, event: AnsibleEvent) -> None:
        """Record the current task; print differences, and with -v everything that Ansible prints."""
        name = request.directory.name
        # a play is shown from its first task on, because in most runs some plays of the skeleton have no hosts
        if event.name in ("playbook_on_task_start", "playbook_on_handler_task_start"):
            self.scene.activities[name] = Activity(event.play, event.task)
        # Ansible reports differences only with --diff or --check
        if (self._verbosity or event.name == _DIFFERENCE) and event.stdout.strip():
            self._view.print_line(event.stdout.replace("\r", "").strip("\n"))

    def tick(self) -> None:
        """Act on Ctrl-C, and redraw the run if it is time."""
        if self.interrupted:
            ask_to_stop((self.scene.directory, *self._active))
        if self.interrupted and not self.scene.stopping:
            self.scene.stopping = True
            self._view.print_line(STOPPING)
        if self._interrupts.count > 1 and not self.killed:
            self.killed = True
            self._view.print_line("stopping immediately")
            kill_all()
        if time.monotonic() - self._drawn >= _REDRAW_SECONDS:
            self.draw()

    def ended(self, request: RunRequest) -> None:
        """Forget a worker that has ended."""
        self._active.discard(request.directory)
        self.scene.activities.pop(request.directory.name, None)

    def draw(self) -> None:
        """Draw the current state of the run's directory."""
        self._drawn = time.monotonic()
        self.scene.steps = self._steps()
        self.scene.bookings = bookings(self.scene.directory)
        self._view.refresh(self.scene)

    def close(self) -> None:
        """Kill all processes of the run, and draw it a last time."""
        kill_all()
        self.scene.steps = self._steps()
        self._view.close(self.scene)

    def _steps(self) -> tuple[Step, ...]:
        return tuple(step for step in self._tree.steps() if step.directory not in self._former)


def ask_to_stop(run_directories: Iterable[Path]) -> None:
    """Write the stop file, which verbs check every half second, into each directory that has none.

    Call it repeatedly, because an Ansible that is just starting deletes the file as one of an earlier attempt.
    """
    for directory in run_directories:
        path = directory / STOP_FILE
        if path.exists():
            continue
        make_room(directory)
        # on a full disk the file is empty, which suffices
        with contextlib.suppress(OSError):
            path.write_text(f"requested at {utc_now():%Y-%m-%dT%H:%M:%SZ} by perfdrv\n", encoding="utf-8")


def kill_all() -> None:
    """Kill every process below this one, and wait until all of them and their locks are gone."""
    deadline = time.monotonic() + _REAP_SECONDS
    while descendants(os.getpid()) and time.monotonic() < deadline:
        kill_descendants(os.getpid())
        time.sleep(0.02)
