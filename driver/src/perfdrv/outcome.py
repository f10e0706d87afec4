"""How a run ended: what run.json says, completed with what only the driver can know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.run.directory import (
    RUN_FILE,
    begin_attempt,
    end_attempt,
    read_run,
)

from perfdrv.errors import EXIT_FAILED, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, UsageError
from perfdrv.processes import Finished

_ANSIBLE_UNEXPECTED = 250
_ANSIBLE_INTERRUPTED = (99, 143)
_ERROR_MARKS = ("[ERROR]:", "ERROR!", "[FATAL]:")
_INTERRUPTED_KIND = "Interrupted"
_ERROR_LINES = 25
_CODES = {"ok": EXIT_OK, "failed": EXIT_FAILED, "refused": EXIT_USAGE, "interrupted": EXIT_INTERRUPTED}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run, or a cell that ran by itself, ended.

    Attributes:
        reason: the first failure: what, where, directory; None when there was none.
    """

    directory: Path
    status: str
    exit_code: int
    reason: Mapping[str, Any] | None = None


class StopState(Protocol):
    """What the user asked for while Ansible ran."""

    @property
    def interrupted(self) -> bool:
        """Whether it was asked to stop."""

    @property
    def killed(self) -> bool:
        """Whether everything was killed."""


def settle(finished: Finished, facts: Mapping[str, Any], stop: StopState) -> Outcome:
    """Bring run.json to an end that is true, whatever happened to Ansible, and read it.

    Args:
        facts: for run.json, when Ansible ended before the collection could write one.

    Raises:
        UsageError: another process works on the run, which is why this Ansible refused; its run.json is left alone.
    """
    directory = finished.request.run_directory
    if not (directory / RUN_FILE).exists():
        begin_attempt(directory, facts)
    run = read_run(directory)
    if run.status == "running" and finished.end.code is not None:
        raise UsageError(f"{directory.name} is still running; wait for it, or stop it where it was started.")
    # the collection takes an Ansible that gave up in its midst for interrupted; only the exit code tells
    kind = (run.document.get("reason") or {}).get("kind")
    gave_up = run.status == "interrupted" and not stop.interrupted and kind != _INTERRUPTED_KIND
    if run.document.get("ended") is None or gave_up:
        end_attempt(directory, *ending_of(finished, stop.killed))
    return read_outcome(directory)


def read_outcome(directory: Path) -> Outcome:
    """How a run ended by its run.json; one that nobody works on any more was interrupted."""
    run = read_run(directory)
    code = run.document.get("exit_code")
    if not isinstance(code, int):
        code = _CODES.get(run.status, EXIT_FAILED)
    return Outcome(directory, run.status, code, run.document.get("reason"))


def ending_of(finished: Finished, killed: bool) -> tuple[str, int, dict[str, Any]]:
    """Status, exit code and reason of an Ansible that ended without saying so in run.json."""
    code = finished.end.code
    if killed:
        return "interrupted", EXIT_INTERRUPTED, _reason("stopped at once by the user", "perfdrv")
    if code is None or code in _ANSIBLE_INTERRUPTED:
        return "interrupted", EXIT_INTERRUPTED, _reason("ansible-playbook was killed by a signal", "perfdrv")
    text = error_text(finished.tail) or f"ansible-playbook ended with {code} and no message"
    if code == _ANSIBLE_UNEXPECTED:
        return "failed", EXIT_INTERNAL, _reason(text, "ansible-playbook")
    return "refused", EXIT_USAGE, _reason(text, "ansible-playbook")


def _reason(what: str, where: str) -> dict[str, Any]:
    return {"what": what, "where": where, "directory": None}


def error_text(tail: Sequence[str]) -> str:
    """The first error that Ansible printed, with the excerpt of the file; empty when there is none."""
    lines = [line.rstrip() for line in tail]
    for position, line in enumerate(lines):
        if line.lstrip().startswith(_ERROR_MARKS):
            return "\n".join(lines[position : position + _ERROR_LINES]).strip()
    return ""
