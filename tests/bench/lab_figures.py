"""Figures of the lab: durations, CPU and memory. Nothing is asserted.

    python tests/bench/lab_figures.py [--jobs 4000] [--nodes 1000] [--many-nodes 5000] [--cold-build]

Prints a table. Run it on an otherwise idle machine; `--cold-build` adds about six minutes of compiling.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from perflab.cluster.api import connect, in_bulk
from perflab.files import places
from perflab.processes import state
from perflab.processes.state import Lab

NAME = "bench"
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
JOBS = "/apis/batch/v1/namespaces/default/jobs"


@dataclasses.dataclass(frozen=True)
class Usage:
    """CPU seconds used so far and resident bytes, per program."""

    cpu_s: dict[str, float]
    resident: dict[str, int]


def perflab(*arguments: str, environment: dict[str, str] | None = None) -> float:
    """Run one `perflab` command; return how long it took, in seconds."""
    started = time.monotonic()
    command = [sys.executable, "-m", "perflab", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
    return time.monotonic() - started


def running_lab() -> Lab:
    return state.get_running(places.home(), NAME)


def usage(lab: Lab) -> Usage:
    cpu, resident = {}, {}
    for name, identity in lab.pids.items():
        fields = Path(f"/proc/{identity.pid}/stat").read_text().rpartition(")")[2].split()
        cpu[name] = (int(fields[11]) + int(fields[12])) / TICKS
        resident[name] = int(fields[21]) * PAGE
    return Usage(cpu, resident)


def job(number: int) -> dict[str, Any]:
    container = {"name": "main", "image": "none", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    pod = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"bench-{number:05d}"},
        "spec": {"backoffLimit": 0, "template": pod},
    }


async def run_jobs(lab: Lab, count: int) -> tuple[float, float]:
    """Create `count` one-GPU Jobs; return seconds until all were created and until all were complete."""
    started = time.monotonic()
    async with connect(lab.folder, lab.server) as api:
        await in_bulk([job(number) for number in range(count)], lambda body: api.create(JOBS, body))
        created = time.monotonic() - started
        # one unfinished Job suffices: a list of thousands would cost what it measures
        while await api.list(f"{JOBS}?fieldSelector=status.successful%3D0&limit=1"):
            await asyncio.sleep(1)
    return created, time.monotonic() - started


def report(what: str, figure: str) -> None:
    print(f"{what:<44} {figure}", flush=True)


def report_shares(before: Usage, after: Usage, seconds: float) -> None:
    for name in after.cpu_s:
        used = after.cpu_s[name] - before.cpu_s[name]
        share = used / seconds / (os.cpu_count() or 1)
        report(f"  {name}", f"{used:7.1f} s CPU, {share:4.0%} of the machine")


def report_memory(lab: Lab) -> None:
    resident = usage(lab).resident
    for name, size in resident.items():
        report(f"  {name}", f"{size / 1e6:7.0f} MB resident")
    report("  together", f"{sum(resident.values()) / 1e6:7.0f} MB resident")


def measure_build() -> None:
    folder = Path(tempfile.mkdtemp(prefix="perflab-bench-"))
    environment = {"XDG_CACHE_HOME": str(folder / "cache"), "GOCACHE": str(folder / "go-build")}
    try:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        report("cold build (sources fetched before)", f"{perflab('build', environment=environment):.0f} s")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        report("  CPU of the build", f"{cpu:.0f} s")
        used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        report("  disk for the build cache and binaries", f"{used / 1e9:.1f} GB")
    finally:
        shutil.rmtree(folder)


def measure(options: argparse.Namespace) -> None:
    report("up, 100 nodes, programs cached", f"{perflab('up', '--name', NAME, '--nodes', '100'):.1f} s")
    report(f"scale to {options.nodes} nodes, all Ready", f"{scale(options.nodes):.1f} s")
    lab, before = running_lab(), usage(running_lab())
    created, seconds = asyncio.run(run_jobs(lab, options.jobs))
    after = usage(lab)
    report(f"{options.jobs} one-GPU Jobs created", f"{created:.1f} s ({options.jobs / created:.0f}/s)")
    report(f"{options.jobs} one-GPU Jobs complete", f"{seconds:.1f} s ({options.jobs / seconds:.0f}/s)")
    report_shares(before, after, seconds)
    total = sum(after.cpu_s.values()) - sum(before.cpu_s.values())
    report("  together", f"{total:7.1f} s CPU, {1000 * total / options.jobs:.1f} ms a Job")
    report_memory(lab)
    if options.many_nodes:
        report(f"scale to {options.many_nodes} nodes, all Ready", f"{scale(options.many_nodes):.1f} s")
        report_memory(lab)
    report("down", f"{perflab('down', '--name', NAME):.1f} s")


def scale(nodes: int) -> float:
    return perflab("scale", "--name", NAME, "--nodes", str(nodes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=4000)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--many-nodes", type=int, default=5000)
    parser.add_argument("--cold-build", action="store_true")
    options = parser.parse_args()
    report("machine", f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} before")
    if options.cold_build:
        measure_build()
    try:
        measure(options)
    finally:
        perflab("down", "--name", NAME)


if __name__ == "__main__":
    main()
