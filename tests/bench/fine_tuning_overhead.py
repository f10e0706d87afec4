"""The overhead of the flow fine_tuning: a complete run on a lab of the profile openshift without simulated delays.

    perflab up --name bench --profile openshift --nodes 4
    PERF_LAB=bench python tests/bench/fine_tuning_overhead.py [ROUNDS]

Each round prepares everything, trains one job that lasts a second, and removes everything. Prints the seconds of each
play and in total. The last line is the load of the machine, which affects wall time more than CPU time.
"""

from __future__ import annotations

import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PRESETS = ("fine_tuning_dgx", "lab", "rhoai_cleanup")
ROUNDS = 3
# the cluster's namespace controller waits five seconds or more before it retries a deletion
NAMESPACES = (
    "psap.perf.fine_tuning_cleanup : Delete the namespace",
    "psap.perf.cluster_undeploy_operator : Delete its namespace",
    "psap.perf.rhods_undeploy_ods : Wait until the namespaces of the product are gone",
)


def _cpu_seconds() -> float:
    """Return the CPU seconds of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _round(runs: Path) -> float:
    words = [word for preset in PRESETS for word in ("-e", f"@presets/{preset}.yml")]
    began = time.monotonic()
    subprocess.run(
        ["ansible-playbook", "playbooks/fine_tuning.yml", "-i", "inventories/lab", *words],
        cwd=PROJECT,
        env={**os.environ, "PERF_RUNS_DIR": str(runs)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.monotonic() - began


def _rows(run: Path, kind: str) -> Iterator[tuple[str, float]]:
    """Yield names and seconds of all plays, or tasks, of a run."""
    with (run / "timeline.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] == kind:
                taken = datetime.fromisoformat(row["end"]) - datetime.fromisoformat(row["start"])
                yield row["name"], taken.total_seconds()


def main() -> int:
    """Measure some rounds, and print the median of each part."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    whole: list[float] = []
    namespaces: list[float] = []
    parts: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as runs:
            whole.append(_round(Path(runs)))
            (run,) = Path(runs).iterdir()
            for name, taken in _rows(run, "play"):
                parts[name].append(taken)
            namespaces.append(sum(taken for name, taken in _rows(run, "task") if name in NAMESPACES))
    for name, taken_by in parts.items():
        print(f"{statistics.median(taken_by):7.1f} s  {name}")
    print(f"{statistics.median(whole):7.1f} s  all, {min(whole):.1f} to {max(whole):.1f} in {rounds} rounds")
    print(f"{statistics.median(namespaces):7.1f} s  of them until the cluster has deleted namespaces")
    print(f"{_cpu_seconds() / rounds:7.1f} s  of CPU, mean of the rounds")
    print(f"load of the machine at the end: {os.getloadavg()[1]:.1f} on {os.cpu_count()} processors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
