"""The CPU time of a load generator's processes, to recognize a generator that limits the load."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_INTERVAL_S = 1.0
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
# fields of /proc/PID/stat after the name: session, utime, stime, starttime
_SESSION, _USER, _SYSTEM, _STARTED = 3, 11, 12, 19


@dataclass(slots=True)
class CpuWatch:
    """Samples of the used cores: of the busiest process, and of all processes of a session."""

    times: list[float] = field(default_factory=list)
    busiest: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    _before: Mapping[str, float] = field(default_factory=dict)
    _sampled: float = 0.0

    def sample(self, session: int) -> None:
        """Add a sample of the processes of *session* if the last one is older than a second."""
        now = time.monotonic()
        elapsed = now - self._sampled
        if elapsed < _INTERVAL_S:
            return
        found = dict(_cpu_times(session))
        if self._before:
            cores = [(used - self._before.get(key, 0.0)) / elapsed for key, used in found.items()]
            self.times.append(round(time.time(), 3))
            self.busiest.append(round(max(cores, default=0.0), 3))
            self.total.append(round(sum(cores), 3))
        self._before, self._sampled = found, now

    def document(self) -> dict[str, list[float]]:
        """Return the samples, with their times in seconds since the epoch."""
        return {"times_s": self.times, "busiest_process_cores": self.busiest, "cores": self.total}


def _cpu_times(session: int) -> Iterator[tuple[str, float]]:
    """Yield the CPU seconds of each process by its number and start."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # the name is in parentheses and may contain spaces
            parts = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            # the process has ended
            continue
        if int(parts[_SESSION]) == session:
            yield f"{path.parent.name} {parts[_STARTED]}", (int(parts[_USER]) + int(parts[_SYSTEM])) * _TICK_S
