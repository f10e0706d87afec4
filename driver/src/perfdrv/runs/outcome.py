"""The outcome of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.run.directory import read_run
from perfanalysis.files.documents import mapping

from perfdrv.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE

_CODES = {"ok": EXIT_OK, "failed": EXIT_FAILED, "refused": EXIT_USAGE, "interrupted": EXIT_INTERRUPTED}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run, of a part of it, or of a cell that was a separate process.

    Attributes:
        status: `ok`, `failed`, `refused` or `interrupted`.
        reason: The first failure: what, where, directory; None if nothing failed.
        left_early: Whether Ansible ended before its last play, so that finalizers may not have run.
    """

    directory: Path
    status: str
    exit_code: int
    reason: Mapping[str, Any] | None = None
    left_early: bool = False

    def document(self) -> dict[str, Any]:
        """Return the fields of run.json."""
        return {"status": self.status, "exit_code": self.exit_code, "reason": self.reason}


def verdict_text(verdict: Mapping[str, Any]) -> str:
    """Return the verdict of the history in one line, from the field of run.json; empty for none.

    Example: `worse: 1 KPI worse than before: …`.
    """
    status = str(verdict.get("status") or "")
    counts = ", ".join(
        f"{number} {word.replace('_', ' ')}" for word, number in mapping(verdict.get("counts")).items() if number
    )
    detail = str(verdict.get("reason") or "") or counts
    return f"{status}: {detail}" if status and detail else status


def read_outcome(directory: Path) -> Outcome:
    """Return the outcome in run.json; a run without an end that no process holds is interrupted."""
    run = read_run(directory)
    code = run.document.get("exit_code")
    if not isinstance(code, int):
        code = _CODES.get(run.status, EXIT_FAILED)
    return Outcome(directory, run.status, code, mapping(run.document.get("reason")) or None)
