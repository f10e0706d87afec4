"""Wait for the end of processes that are not children of a test."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

# less than the duration of the tests' sleeps, and more than a busy machine needs
PATIENCE_S = 50.0


def wait_until_dead(pid: int) -> None:
    """Wait until the process *pid* has ended: a signal takes effect after a moment."""
    stat, deadline = Path(f"/proc/{pid}/stat"), time.monotonic() + PATIENCE_S
    with suppress(FileNotFoundError, ProcessLookupError):
        while stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z":
            assert time.monotonic() < deadline, f"process {pid} is alive"
            time.sleep(0.02)
