"""How a run ended."""

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
    """How a run, a part of it, or a cell that ran by itself ended.

    Attributes:
        status: `ok`, `failed`, `refused` or `interrupted`.
        reason: the first failure: what, where, directory; None when there was none.
        left_early: Ansible left before its last play, so that finalizers may not have run.
    """

    directory: Path
    status: str
    exit_code: int
    reason: Mapping[str, Any] | None = None
    left_early: bool = False

    def document(self) -> dict[str, Any]:
        """As run.json has it."""
        return {"status": self.status, "exit_code": self.exit_code, "reason": self.reason}


def read_outcome(directory: Path) -> Outcome:
    """How a run ended by its run.json; one that nobody works on any more was interrupted."""
    run = read_run(directory)
    code = run.document.get("exit_code")
    if not isinstance(code, int):
        code = _CODES.get(run.status, EXIT_FAILED)
    return Outcome(directory, run.status, code, mapping(run.document.get("reason")) or None)
