"""The files that record a run: ``run.json``, ``timeline.csv``, ``failures.jsonl``, and each command's status."""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json, write_text
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import FACT
from ansible_collections.psap.perf.plugins.module_utils.run.directory import (
    REACHED_FILE,
    RUN_FILE,
    STOP_FILE,
    begin_attempt,
    end_attempt,
    hold,
    make_room,
    release,
    update_run,
)
from ansible_collections.psap.perf.plugins.module_utils.run.environment import JOINED, RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.failures import (
    Failure,
    append_failure,
    ending,
    failures_of,
)
from ansible_collections.psap.perf.plugins.plugin_utils.command_tracker import CommandTracker, OpenCommand, TaskEnd

# Ansible's message after SIGINT
_USER_INTERRUPTED = "User interrupted execution"
SETTINGS_FILE = "settings.yml"
TIMELINE = "timeline.csv"
TIMELINE_COLUMNS = ("start", "end", "host", "lane", "kind", "name", "directory", "status")


class RunLog:
    """The log of one attempt at a run."""

    def __init__(self, environment: RunEnvironment, facts: Mapping[str, Any], *, part_of_attempt: bool) -> None:
        """Create the log; call `begin` instead."""
        self.environment = environment
        self._facts = dict(facts)
        self._settings = b""
        self.directory = environment.directory
        self.part_of_attempt = part_of_attempt
        self._tracker = CommandTracker(self._command_ended)
        self._play: tuple[str, str] | None = None
        self._task_started: dict[str, str] = {}
        self._failed_first: Failure | None = None

    @classmethod
    def next_attempt(cls, directory: Path) -> int:
        """Return the number of the attempt that begins at *directory* now."""
        path = directory / RUN_FILE
        return len(read_json(path).get("attempts", [])) + 1 if path.exists() else 1

    @classmethod
    def begin(cls, environment: RunEnvironment, facts: Mapping[str, Any]) -> RunLog:
        """Start an attempt, or join the one that a driver started and holds.

        Raises:
            UsageError: If another process works on the run.
        """
        joined = bool(os.environ.get(JOINED))
        if not joined:
            hold(environment.directory)
            for name in (STOP_FILE, REACHED_FILE):
                (environment.directory / name).unlink(missing_ok=True)
            begin_attempt(environment.directory, facts)
        log = cls(environment, facts, part_of_attempt=joined)
        if not log.restore_if_removed():
            log._begin_timeline()
        return log

    def restore_if_removed(self) -> bool:
        """Create the run directory again if it was removed, so that finalizers have a place to work in.

        Running commands stop, and the run fails for this reason. The contents of the directory are lost.
        """
        if (self.directory / RUN_FILE).exists():
            return False
        self.directory.mkdir(parents=True, exist_ok=True)
        # the lock of the removed file protects nothing
        release(self.directory)
        hold(self.directory)
        begin_attempt(self.directory, self._facts)
        self._begin_timeline()
        if self._settings:
            write_text(self.directory / SETTINGS_FILE, self._settings.decode())
        self.failed(_removed(self.environment))
        write_text(self.directory / STOP_FILE, "")
        return True

    def _begin_timeline(self) -> None:
        timeline = self.directory / TIMELINE
        if not timeline.exists():
            write_text(timeline, ",".join(TIMELINE_COLUMNS) + "\n")

    def play_started(self, name: str) -> None:
        """End all commands when a play begins."""
        self._end_play()
        self._play = (name, utc_now())
        with suppress(OSError):
            self._settings = (self.directory / SETTINGS_FILE).read_bytes()

    def play_is_empty(self) -> None:
        """Write no row for a play without hosts in this run."""
        self._play = None

    def opened(self, command: OpenCommand, chain: Collection[int]) -> None:
        """Record that a command opened its directory."""
        self._tracker.open(command, chain)

    def task_ended(self, end: TaskEnd, name: str, status: str) -> OpenCommand | None:
        """Record the end of a task on a host; return the command that it belongs to."""
        command = self._tracker.task_ended(end)
        started = self._task_started.get(end.host) or end.at
        self._task_started[end.host] = end.at
        self._row(started, end.at, end.host, "task", name, command.directory if command else None, status)
        return command

    def failed(self, failure: Failure, command: OpenCommand | None = None) -> None:
        """Record a failed task; *command* is the one that it belongs to."""
        # a full disk may prevent writing it to the file; the run must fail nevertheless
        self._failed_first = self._failed_first or failure
        make_room(self.directory)
        append_failure(self.directory, failure)
        for directory in self._with_outer(command.directory) if command else ():
            # its directory may have been removed
            if directory.is_dir() and not (directory / "FAILURE").exists():
                write_text(directory / "FAILURE", _failure_text(failure, directory))

    def _with_outer(self, directory: Path) -> list[Path]:
        """Return the directory of a command, and those of the commands that include it."""
        around = [each for each in directory.parents if self.directory in each.parents]
        return [directory, *(each for each in around if (each / "args.yml").exists())]

    def add_facts(self, facts: Mapping[str, Any]) -> None:
        """Record facts that a verb found about the run."""
        self._facts.update(facts)
        update_run(self.directory, facts)

    def ended(self, hosts_failed: bool) -> None:
        """Write the end of the run after the last play."""
        failures = failures_of(self.directory, self.environment.attempt)
        first = failures[0] if failures else self._failed_first
        if first is None and hosts_failed:
            self._end("failed", 1, None)
        else:
            self._end(*ending([first] if first else []))

    def lost_export(self) -> str:
        """Return why a successful run was not exported; empty for any other."""
        document = read_json(self.directory / RUN_FILE)
        lost = document.get(FACT) or {}
        return str(lost.get("why")) if document["status"] == "ok" and lost.get("status") == "failed" else ""

    def exported_to(self) -> str:
        """Return the place of the run's export; empty if it was not exported."""
        export = read_json(self.directory / RUN_FILE).get(FACT) or {}
        return str(export["to"]) if export.get("status") == "ok" else ""

    def ended_early(self, last_error: str | None) -> None:
        """Write the end of the run if Ansible exits before the last play: after a signal, or an error of project files.

        Args:
            last_error: Ansible's last error message, if any.
        """
        failures = failures_of(self.directory, self.environment.attempt)
        self._tracker.interrupt_all()
        if failures:
            self._end(*ending(failures))
            return
        interrupted = last_error is None or _USER_INTERRUPTED in last_error
        reason = _early_reason(self.directory, None if interrupted else last_error)
        self._end("interrupted" if interrupted else "failed", 130 if interrupted else 2, reason)

    def _end(self, status: str, exit_code: int, reason: Mapping[str, Any] | None) -> None:
        self._end_play()
        if self.part_of_attempt:
            return
        end_attempt(self.directory, status, exit_code, reason)
        release(self.directory)

    def _end_play(self) -> None:
        self._tracker.close_all()
        if self._play is not None:
            name, started = self._play
            self._row(started, utc_now(), "", "play", name, None, "ended")
            self._play = None
        self._task_started.clear()

    def _command_ended(self, command: OpenCommand) -> None:
        path = command.directory / "status.json"
        if path.exists():
            status = read_json(path)
            status.update(status=command.status, changed=command.changed, ended=command.last, error=command.error)
            write_json(path, status)
        self._row(
            command.started,
            command.last,
            command.host,
            "command",
            command.role,
            command.directory,
            command.status,
        )

    def _row(self, start: str, end: str, host: str, kind: str, name: str, directory: Path | None, status: str) -> None:
        place = str(directory.relative_to(self.directory)) if directory else ""
        lane = next((part.partition("lane__")[2] for part in place.split("/") if "lane__" in part), "")
        with (self.directory / TIMELINE).open("a", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerow((start, end, host, lane, kind, hide(name), place, status))


def _removed(environment: RunEnvironment) -> Failure:
    """Return the failure of a run whose directory was removed."""
    return Failure(
        at=utc_now(),
        attempt=environment.attempt,
        host="",
        role=None,
        what="the run directory was removed during the run",
        where=str(environment.directory),
        why="its records and results are lost; the run stopped and its finalizers ran",
        exit_code=1,
        kind="",
        directory=None,
    )


def _failure_text(failure: Failure, directory: Path) -> str:
    return (
        f"{failure.what}\n{failure.where}\n\n{failure.why}\n\n"
        f"Captured state: {directory / 'artifacts'}\n"
        f"Run it again: sh {directory / 'command.txt'}\n"
    )


def _early_reason(run: Path, last_error: str | None) -> dict[str, Any]:
    return {
        "what": "ansible-playbook ended before its last play",
        "where": str(run / "ansible.log"),
        "why": last_error or "a signal ended it, such as Ctrl-C",
        "directory": None,
        "exit_code": 2 if last_error else 130,
        "kind": "",
    }
