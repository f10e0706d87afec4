"""The keeper of a submitter in a pod: it survives a broken stream to the coordinator, and ends without streams."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import Folder
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.process import LocalProcesses

UNATTENDED_S = 30.0
"""A submitter ends after this time without a stream, which an API server that starts again needs."""
_TICK_S = 0.05


@dataclass(frozen=True, slots=True)
class KeeperFiles:
    """The files in the folder of a pod by which keeper and streams communicate."""

    folder: Path

    @property
    def pid(self) -> Path:
        """The process ID of the keeper."""
        return self.folder / "keeper.pid"

    @property
    def attended(self) -> Path:
        """Touched while a stream is open."""
        return self.folder / "attended"

    @property
    def killed(self) -> Path:
        """Exists when the coordinator ends the submitter."""
        return self.folder / "killed"

    @property
    def ended(self) -> Path:
        """How the submitter ended, as a phrase that follows its name."""
        return self.folder / "ended"

    def fate(self) -> str | None:
        """Return how the submitter ended; None while it runs, or before its start."""
        if self.ended.exists():
            return self.ended.read_text(encoding="utf-8")
        if not self.pid.exists():
            return None
        # the first process of the container may not collect the ended keeper
        state = Path("/proc", self.pid.read_text(encoding="ascii"), "stat")
        alive = state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
        return None if alive or self.ended.exists() else "ended with its keeper in the pod"


def main(folder: str, number: str) -> None:
    """Run submitter *number* of the plan in *folder* until it ends, is killed, or no stream is open for too long."""
    files = KeeperFiles(Path(folder))
    _write(files.pid, str(os.getpid()))
    try:
        process = LocalProcesses(load_endpoint()).start(Folder(Path(folder)), int(number))
    except PerfError as error:
        _write(files.ended, f"failed: {error}")
        raise SystemExit(1) from error
    while (fate := process.fate()) is None:
        if files.killed.exists() or time.time() - files.attended.stat().st_mtime > UNATTENDED_S:
            process.kill()
        time.sleep(_TICK_S)
    _write(files.ended, fate)


def _write(path: Path, text: str) -> None:
    with completing(path) as partial:
        partial.write_text(text, encoding="utf-8")
