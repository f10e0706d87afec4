"""CPU time and memory of the processes of a lab, of this one and of its children, for benches."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from perflab.processes.state import Lab

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_EVERY_S = 0.5
OURS = "psap.perf"
CHILDREN = "psap.perf children"


@dataclass
class Usage:
    """Usage of the processes over time: CPU seconds, peak resident memory in bytes, by name."""

    seconds: float = 0.0
    cpu_s: dict[str, float] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    waited_s: float = 0.0
    """Seconds in which this process was ready to run and waited for a CPU."""


def cpu_seconds(pid: int, *, children: bool = False) -> float:
    """Return the CPU time that a process has used; with `children`, also its ended children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if children else 13])) / _TICKS


def resident(pid: int) -> int:
    """Return the resident memory of a process, in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


def cpu_of(lab: Lab) -> dict[str, float]:
    """Return the CPU seconds that each program of a lab has used."""
    return {name: cpu_seconds(identity.pid) for name, identity in lab.pids.items()}


def resident_mb(lab: Lab) -> dict[str, float]:
    """Return the resident memory of each program of a lab, in MB of 10^6 bytes."""
    return {name: resident(identity.pid) / 1e6 for name, identity in lab.pids.items()}


def children_cpu() -> float:
    """Return the CPU seconds of the children of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _own() -> tuple[float, float, float]:
    """Return the CPU of this process, of its ended children, and its time waiting for a CPU (main thread)."""
    waited = int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    return time.process_time(), children_cpu(), waited


@contextmanager
def measured(pids: Mapping[str, int]) -> Iterator[Usage]:
    """Measure the usage of *pids*, by name, and of this process until the block ends."""
    usage = Usage()
    began = time.monotonic()
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    own, children, waited = _own()
    over = threading.Event()
    sampler = threading.Thread(target=_sample, args=({**pids, OURS: os.getpid()}, usage.memory, over))
    sampler.start()
    try:
        yield usage
    finally:
        over.set()
        sampler.join()
        usage.seconds = time.monotonic() - began
        usage.cpu_s = {name: cpu_seconds(pid) - before[name] for name, pid in pids.items()}
        own_after, children_after, waited_after = _own()
        usage.cpu_s[OURS] = own_after - own
        usage.cpu_s[CHILDREN] = children_after - children
        usage.memory[CHILDREN] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        usage.waited_s = waited_after - waited


def _sample(pids: Mapping[str, int], memory: dict[str, int], over: threading.Event) -> None:
    while True:
        for name, pid in pids.items():
            memory[name] = max(memory.get(name, 0), resident(pid))
        if over.wait(_EVERY_S):
            return


def usage_table(usage: Usage, workloads: int) -> str:
    """Return a row for each process: share of one CPU, CPU milliseconds a workload, peak memory."""
    rows = [f"{'process':<26} {'CPU':>6}  {'ms/workload':>11}  {'memory MB':>9}"]
    for name, cpu in sorted(usage.cpu_s.items(), key=lambda item: -item[1]):
        memory = usage.memory.get(name, 0) / 1e6
        rows.append(f"{name:<26} {cpu / usage.seconds:>6.0%}  {cpu / workloads * 1000:>11.2f}  {memory:>9.0f}")
    return "\n".join(rows)
