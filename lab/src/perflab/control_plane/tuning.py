"""Settings for this machine: concurrency of the lab's programs, and memory of the API server.

More workers than the CPUs can serve slow the API server down: it then serves its watchers too late, closes their
connections, and KWOK reads (and simulates) everything again. Measured on 2 CPUs with 500 Jobs: 16 stage workers and 50
Job workers caused 39 closed watches, 4 and 8 caused none, with the same throughput.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

_STAGE_WORKERS_PER_CPU = 2
_JOB_WORKERS_PER_CPU = 4
_FEWEST_WORKERS = 4
# collecting garbage later costs memory and saves about a sixth of the API server's CPU
_GARBAGE_PERCENT = "300"
_MEMORY_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Tuning:
    """Settings that depend on the machine."""

    stage_workers: int
    job_workers: int
    memory_limit_bytes: int

    def environment(self) -> dict[str, str]:
        """Return the environment of the API server: its garbage collector works more near the memory limit."""
        return {"GOGC": _GARBAGE_PERCENT, "GOMEMLIMIT": str(self.memory_limit_bytes)}


def tuning_for(cpus: int, memory_bytes: int) -> Tuning:
    """Return the settings for a machine with so many CPUs and so much memory."""
    return Tuning(
        stage_workers=max(_FEWEST_WORKERS, cpus * _STAGE_WORKERS_PER_CPU),
        job_workers=max(_FEWEST_WORKERS, cpus * _JOB_WORKERS_PER_CPU),
        memory_limit_bytes=int(memory_bytes * _MEMORY_SHARE),
    )


def this_machine() -> Tuning:
    """Return the settings for this machine."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return tuning_for(len(os.sched_getaffinity(0)), memory)
