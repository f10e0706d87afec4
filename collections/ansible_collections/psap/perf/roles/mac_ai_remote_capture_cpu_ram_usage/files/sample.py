"""Writes the use of processors, memory, network and disks, a line of JSON for each sample: ``sample.py SECONDS``.

It reads ``/proc`` on Linux and runs ``top`` on macOS, which gives no network and no disks. Needs only Python 3.9.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

# columns of /proc/stat: all but those of guests, which others contain; idle and iowait
_ALL, _IDLE = slice(1, 9), slice(4, 6)
_IDLE_OF_TOP = re.compile(r"CPU usage:.* ([\d.]+)% idle")
_MEMORY_OF_TOP = re.compile(r"PhysMem: (\d+)([KMGT]) used")
# of /proc/diskstats, regardless of the disk
_SECTOR = 512
_BYTES = {unit: 1 << 10 * power for power, unit in enumerate("KMGT", start=1)}


def processor_ticks(stat: str) -> tuple[int, int]:
    """Return the busy ticks and all ticks of all processors in *stat*, the text of /proc/stat."""
    words = stat.partition("\n")[0].split()
    total = sum(map(int, words[_ALL]))
    return total - sum(map(int, words[_IDLE])), total


def memory_bytes(meminfo: str) -> tuple[int, int]:
    """Return used and total bytes in *meminfo*, the text of /proc/meminfo."""
    kib = {name: int(rest.split()[0]) for name, rest in (line.split(":") for line in meminfo.splitlines())}
    return (kib["MemTotal"] - kib["MemAvailable"]) << 10, kib["MemTotal"] << 10


def network_bytes(net_dev: str) -> dict[str, int]:
    """Return the received and sent bytes of all interfaces but the loopback in *net_dev*, the text of /proc/net/dev."""
    lines = [line.partition(":") for line in net_dev.splitlines()[2:]]
    counters = [list(map(int, rest.split())) for name, _colon, rest in lines if name.strip() != "lo"]
    return {"received_bytes": sum(each[0] for each in counters), "sent_bytes": sum(each[8] for each in counters)}


def disk_bytes(diskstats: str, disks: Container[str]) -> dict[str, int]:
    """Return the read and written bytes of *disks* in *diskstats*, the text of /proc/diskstats.

    Args:
        disks: Without partitions and mapped devices, which would count a transfer again.
    """
    rows = [words for words in map(str.split, diskstats.splitlines()) if words[2] in disks]
    return {name: _SECTOR * sum(int(row[at]) for row in rows) for name, at in (("read_bytes", 5), ("written_bytes", 9))}


def transferred(proc: Path, disks: Container[str]) -> dict[str, int]:
    """Return the bytes that the host has transferred since its boot, of the counters that the kernel has."""
    net_dev, diskstats = proc / "net/dev", proc / "diskstats"
    return {
        **(network_bytes(net_dev.read_text(encoding="ascii")) if net_dev.exists() else {}),
        **(disk_bytes(diskstats.read_text(encoding="ascii"), disks) if diskstats.exists() else {}),
    }


def rates(before: Mapping[str, int], now: Mapping[str, int], took_s: float) -> dict[str, float]:
    """Return the growth of each counter in a second; a counter that shrank, as of a removed interface, has none."""
    grown = {name: now[name] - before[name] for name in now if now[name] >= before.get(name, now[name] + 1)}
    return {f"{name}_per_s": growth / took_s for name, growth in grown.items()}


def of_linux(interval_s: float) -> Iterator[dict[str, Any]]:
    """Yield samples indefinitely; the share is of the time since the last sample."""
    proc = Path("/proc")
    stat, meminfo = proc / "stat", proc / "meminfo"
    disks = {disk.parent.name for disk in Path("/sys/block").glob("*/device")}
    busy, there = processor_ticks(stat.read_text(encoding="ascii"))
    at_s, moved = time.monotonic(), transferred(proc, disks)
    while True:
        time.sleep(interval_s)
        now_busy, now_there = processor_ticks(stat.read_text(encoding="ascii"))
        now_s, now_moved = time.monotonic(), transferred(proc, disks)
        if now_there > there:
            used, memory = memory_bytes(meminfo.read_text(encoding="ascii"))
            shares = {"cpu_share": (now_busy - busy) / (now_there - there), "used_bytes": used, "memory_bytes": memory}
            yield {**shares, **rates(moved, now_moved, now_s - at_s)}
        busy, there, at_s, moved = now_busy, now_there, now_s, now_moved


def of_top(lines: Iterable[str], memory_bytes: int) -> Iterator[dict[str, Any]]:
    """Yield samples from the output of macOS' top, except the first, which covers the time since the boot."""
    idle, number = 100.0, 0
    for line in lines:
        if found := _IDLE_OF_TOP.search(line):
            idle, number = float(found[1]), number + 1
        elif (found := _MEMORY_OF_TOP.search(line)) and number > 1:
            used = int(found[1]) * _BYTES[found[2]]
            yield {"cpu_share": round(1 - idle / 100, 4), "used_bytes": used, "memory_bytes": memory_bytes}


def of_macos(interval_s: float) -> Iterator[dict[str, Any]]:
    """Yield samples indefinitely; top accepts only whole seconds."""
    memory = subprocess.run(["sysctl", "-n", "hw.memsize"], stdout=subprocess.PIPE, text=True, check=True).stdout
    words = ["top", "-l", "0", "-n", "0", "-s", str(max(1, round(interval_s)))]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as top:
        yield from of_top(top.stdout or (), int(memory))


def main(interval_s: float) -> None:
    """Write samples until killed."""
    for sample in of_macos(interval_s) if sys.platform == "darwin" else of_linux(interval_s):
        print(json.dumps({"at_s": time.time(), **sample}), flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]))
