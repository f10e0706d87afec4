"""Figures of the lab: durations, CPU and memory. Nothing is asserted.

    python tests/bench/lab_figures.py [--jobs 4000] [--nodes 1000] [--many-nodes 5000] [--cold-build]

Prints a table. Run it on an otherwise idle machine; `--cold-build` adds about six minutes of compiling.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from perflab.cluster.api import connect, in_bulk
from perflab.files import places
from perflab.processes import state
from perflab.processes.state import Lab

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.lab_commands import perflab
from tests.bench.processes import children_cpu, cpu_of, resident_mb

NAME = "bench"
JOBS = "/apis/batch/v1/namespaces/default/jobs"


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


def report_shares(used: dict[str, float], seconds: float) -> None:
    for name, cpu in used.items():
        report(f"  {name}", f"{cpu:7.1f} s CPU, {cpu / seconds / (os.cpu_count() or 1):4.0%} of the machine")


def report_memory(lab: Lab) -> None:
    resident = resident_mb(lab)
    for name, size in resident.items():
        report(f"  {name}", f"{size:7.0f} MB resident")
    report("  together", f"{sum(resident.values()):7.0f} MB resident")


def measure_build() -> None:
    folder = Path(tempfile.mkdtemp(prefix="perflab-bench-"))
    environment = {"XDG_CACHE_HOME": str(folder / "cache"), "GOCACHE": str(folder / "go-build")}
    try:
        before = children_cpu()
        report("cold build (sources fetched before)", f"{perflab('build', environment=environment):.0f} s")
        report("  CPU of the build", f"{children_cpu() - before:.0f} s")
        used = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        report("  disk for the build cache and binaries", f"{used / 1e9:.1f} GB")
    finally:
        shutil.rmtree(folder)


def measure(options: argparse.Namespace) -> None:
    report("up, 100 nodes, programs cached", f"{perflab('up', '--name', NAME, '--nodes', '100'):.1f} s")
    report(f"scale to {options.nodes} nodes, all Ready", f"{scale(options.nodes):.1f} s")
    lab = state.get_running(places.home(), NAME)
    before = cpu_of(lab)
    created, seconds = asyncio.run(run_jobs(lab, options.jobs))
    used = {name: cpu - before[name] for name, cpu in cpu_of(lab).items()}
    report(f"{options.jobs} one-GPU Jobs created", f"{created:.1f} s ({options.jobs / created:.0f}/s)")
    report(f"{options.jobs} one-GPU Jobs complete", f"{seconds:.1f} s ({options.jobs / seconds:.0f}/s)")
    report_shares(used, seconds)
    total = sum(used.values())
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
