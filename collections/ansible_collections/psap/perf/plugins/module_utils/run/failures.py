"""The failures of a run, in the order of time: written by the callback, read by the gate and the conclusion."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.documents import parse_json, write_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.run.directory import STOP_FILE, make_room

FILE = "failures.jsonl"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed task.

    Attributes:
        what: The command and task, for the user.
        where: ``file:line`` of the task, and the host.
        why: The task's message.
        kind: Name of the error's class, for example ``ClusterError``; empty for a task that is not one of our verbs.
    """

    at: str
    attempt: int
    host: str
    role: str | None
    what: str
    where: str
    why: str
    exit_code: int
    kind: str
    directory: str | None
    finalizing: bool = False

    @property
    def interrupted(self) -> bool:
        """Whether the only failure is that the run was asked to stop."""
        return self.kind == "Interrupted"

    def reason(self) -> dict[str, Any]:
        """The reason in the format of ``run.json``."""
        if self.interrupted:
            # the cause is the request to stop; the task is only the place that the run had reached
            stopped = {"what": "the run was asked to stop", "where": f"{self.what}, {self.where}", "why": ""}
            return {**stopped, "directory": self.directory, "exit_code": self.exit_code, "kind": self.kind}
        keys = ("what", "where", "why", "directory", "exit_code", "kind")
        return {key: value for key, value in asdict(self).items() if key in keys}


def ending(failures: Sequence[Failure]) -> tuple[str, int, dict[str, Any] | None]:
    """Return status, exit code and reason of an attempt with these failures, which the first one determines."""
    if not failures:
        return "ok", 0, None
    first = failures[0]
    refused = first.exit_code == 2 and first.directory is None
    status = "interrupted" if first.interrupted else "refused" if refused else "failed"
    return status, first.exit_code, first.reason()


def append_failure(run: Path, failure: Failure) -> None:
    """Add *failure* to those of *run*."""
    with (run / FILE).open("a", encoding="utf-8") as stream:
        stream.write(hide(json.dumps(asdict(failure), ensure_ascii=False)) + "\n")


def stop_run(run: Path, error: PerfError, *, attempt: int, what: str, where: str) -> None:
    """Stop *run* from outside its tasks, as if the user asked for it, with *error* as its failure."""
    failure = Failure(
        at=utc_now(),
        attempt=attempt,
        host="",
        role=None,
        what=what,
        where=where,
        why=str(error),
        exit_code=error.exit_code,
        kind=type(error).__name__,
        directory=None,
    )
    # on a full disk an empty file that stops the run matters more than the reason
    with suppress(OSError):
        make_room(run)
        append_failure(run, failure)
    write_text(run / STOP_FILE, "")


def failures_of(run: Path, attempt: int) -> list[Failure]:
    """Return the failures of one attempt, the oldest first, without a line that a kill cut off."""
    return [failure for failure in every_failure(run) if failure.attempt == attempt]


def every_failure(run: Path) -> list[Failure]:
    """Return the failures of all attempts, the oldest first."""
    path = run / FILE
    if not path.exists():
        return []
    found = (_parsed(line) for line in path.read_text(encoding="utf-8").splitlines())
    return [failure for failure in found if failure is not None]


def _parsed(line: str) -> Failure | None:
    try:
        document: Mapping[str, Any] = parse_json(line)
        return Failure(**document)
    except (ValueError, TypeError):
        return None
