"""Writes how much of the processors and of the memory is used, a line of JSON each: ``sample.py SECONDS``.

It works on Linux; Python 3.9 is all that it needs.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

# columns of /proc/stat: of all, those of guests are part of others; idle and iowait are what a processor does not do
_ALL, _IDLE = slice(1, 9), slice(4, 6)


def processor_ticks(stat: str) -> tuple[int, int]:
    """How long all processors had something to do, and how long they were there, of /proc/stat."""
    words = stat.partition("\n")[0].split()
    total = sum(map(int, words[_ALL]))
    return total - sum(map(int, words[_IDLE])), total


def memory_bytes(meminfo: str) -> tuple[int, int]:
    """What is in use, and what there is, of /proc/meminfo."""
    kib = {name: int(rest.split()[0]) for name, rest in (line.split(":") for line in meminfo.splitlines())}
    return (kib["MemTotal"] - kib["MemAvailable"]) << 10, kib["MemTotal"] << 10


def main(interval_s: float) -> None:
    """Sample until it is ended; a share is that of the time since the sample before."""
    stat, meminfo = Path("/proc/stat"), Path("/proc/meminfo")
    busy, there = processor_ticks(stat.read_text(encoding="ascii"))
    while True:
        time.sleep(interval_s)
        now_busy, now_there = processor_ticks(stat.read_text(encoding="ascii"))
        if now_there > there:
            used, memory = memory_bytes(meminfo.read_text(encoding="ascii"))
            share = (now_busy - busy) / (now_there - there)
            sample = {"at_s": time.time(), "cpu_share": share, "used_bytes": used, "memory_bytes": memory}
            print(json.dumps(sample), flush=True)
        busy, there = now_busy, now_there


if __name__ == "__main__":
    main(float(sys.argv[1]))
