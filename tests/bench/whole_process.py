"""The cost of a process from its start to its end: wall time, CPU time and peak memory, for benches of the analysis.

A child's peak memory counts its parent's at the time of the fork, so a bench that uses this must itself stay small:
data that needs numpy or pandas is written by a child process. Bytecode is kept, as in an installation: otherwise every
process would compile all of perfanalysis again, which takes as long as a small report.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PERFANALYSIS = (sys.executable, "-m", "perfanalysis")
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True, order=True)
class Cost:
    """Wall and CPU seconds, CPU of system calls included, and peak resident memory in MB of 10^6 bytes."""

    wall_s: float
    cpu_s: float
    peak_mb: float

    @property
    def text(self) -> str:
        """The costs as text, for a table."""
        return f"{self.wall_s:.2f} s wall, {self.cpu_s:.2f} s CPU, {self.peak_mb:.0f} MB"


def cost_of(command: Sequence[str], *, accepted: Sequence[int] = (0,)) -> Cost:
    """Run a command once and discard its output; exit if it ends with another code."""
    began = time.monotonic()
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(command, stdout=quiet, stderr=quiet, cwd=ROOT, env=ENVIRONMENT)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in accepted:
        raise SystemExit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)


def quickest(
    command: Sequence[str],
    repeat: int,
    *,
    before: Callable[[], object] | None = None,
    accepted: Sequence[int] = (0,),
) -> Cost:
    """Return the fastest of several runs by wall time, with the largest peak memory; `before` runs before each."""
    found = []
    for _ in range(repeat):
        if before is not None:
            before()
        found.append(cost_of(command, accepted=accepted))
    best = min(found)
    return Cost(best.wall_s, min(cost.cpu_s for cost in found), max(cost.peak_mb for cost in found))


def output_of(module: str, *arguments: str) -> str:
    """Run a module of the tests as a process; return its output: generators print where they wrote."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()
