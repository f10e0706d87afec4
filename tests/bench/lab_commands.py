"""Runs commands of `perflab`, for benches that start labs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping

PERFLAB = (sys.executable, "-m", "perflab")


def perflab(*arguments: str, environment: Mapping[str, str] | None = None) -> float:
    """Run one command, its output discarded; return how long it took, in seconds."""
    started = time.monotonic()
    command = [*PERFLAB, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
    return time.monotonic() - started
