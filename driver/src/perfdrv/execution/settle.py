"""The outcome of an Ansible process, from its files, its exit code and its output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.run.directory import (
    RUN_FILE,
    begin_attempt,
    end_attempt,
    read_run,
)
from ansible_collections.psap.perf.plugins.module_utils.run.failures import Failure, ending

from perfdrv.ansible.workers import Finished
from perfdrv.errors import EXIT_FAILED, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, UsageError
from perfdrv.runs.outcome import Outcome, read_outcome

_ANSIBLE_GAVE_UP = 1
_ANSIBLE_HOST_FAILED = 2
_ANSIBLE_UNEXPECTED = 250
_ANSIBLE_INTERRUPTED = (99, 143)
_BEFORE_THE_LAST_PLAY = (None, _ANSIBLE_GAVE_UP, _ANSIBLE_UNEXPECTED, *_ANSIBLE_INTERRUPTED)
_ERROR_MARKS = ("[ERROR]:", "ERROR!", "[FATAL]:")
_INTERRUPTED_KIND = "Interrupted"
_ERROR_LINES = 25


class StopState(Protocol):
    """The user's requests to stop."""

    @property
    def interrupted(self) -> bool:
        """Whether a stop was requested."""

    @property
    def killed(self) -> bool:
        """Whether all processes were killed."""


def settle(finished: Finished, facts: Mapping[str, Any], stop: StopState) -> Outcome:
    """Complete run.json with the true end of the run, and return the outcome.

    Args:
        facts: For run.json, if Ansible ended before the collection wrote one.

    Raises:
        UsageError: Another process holds the run, so that this Ansible was refused; run.json is not changed.
    """
    directory = finished.request.directory
    if not (directory / RUN_FILE).exists():
        begin_attempt(directory, facts)
    run = read_run(directory)
    if run.status == "running" and finished.code is not None:
        raise UsageError(f"{directory.name} is still running: wait for it, or stop it where it was started")
    # the collection records an Ansible that gave up as interrupted; only the exit code shows the difference
    kind = (run.document.get("reason") or {}).get("kind")
    gave_up = run.status == "interrupted" and not stop.interrupted and kind != _INTERRUPTED_KIND
    if run.document.get("ended") is None or gave_up:
        outcome = _infer_outcome(finished, stop.killed)
        end_attempt(directory, outcome.status, outcome.exit_code, outcome.reason)
    return read_outcome(directory)


def outcome_of(finished: Finished, failures: Sequence[Failure], killed: bool) -> Outcome:
    """Return the outcome of a part of an attempt, which run.json does not have, from its failures in order."""
    directory, left_early = finished.request.directory, finished.code in _BEFORE_THE_LAST_PLAY
    if failures:
        return Outcome(directory, *ending(failures), left_early)
    ended = Outcome(directory, "ok", EXIT_OK) if finished.code == 0 else _infer_outcome(finished, killed)
    return replace(ended, left_early=left_early)


def _infer_outcome(finished: Finished, killed: bool) -> Outcome:
    """Return the outcome of an Ansible that recorded none, from its exit code and output."""
    directory, code = finished.request.directory, finished.code
    if killed:
        return _outcome(directory, "interrupted", EXIT_INTERRUPTED, "stopped immediately by the user", "perfdrv")
    if code is None or code in _ANSIBLE_INTERRUPTED:
        return _outcome(
            directory, "interrupted", EXIT_INTERRUPTED, "ansible-playbook was killed by a signal", "perfdrv"
        )
    text = error_text(finished.tail) or f"ansible-playbook ended with exit code {code} and no message"
    if code == _ANSIBLE_UNEXPECTED:
        return _outcome(directory, "failed", EXIT_INTERNAL, text, "ansible-playbook")
    if code == _ANSIBLE_HOST_FAILED:
        return _outcome(directory, "failed", EXIT_FAILED, text, "ansible-playbook")
    return _outcome(directory, "refused", EXIT_USAGE, text, "ansible-playbook")


def _outcome(directory: Path, status: str, exit_code: int, what: str, where: str) -> Outcome:
    return Outcome(directory, status, exit_code, {"what": what, "where": where, "directory": None})


def error_text(tail: Sequence[str]) -> str:
    """Return the first error that Ansible printed, with its excerpt of the file; empty if it printed none."""
    lines = [line.rstrip() for line in tail]
    for position, line in enumerate(lines):
        if line.lstrip().startswith(_ERROR_MARKS):
            return "\n".join(lines[position : position + _ERROR_LINES]).strip()
    return ""
