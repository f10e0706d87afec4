"""What dynamic resource allocation costs: the same load by extended resources and by claims of devices.

    python tests/bench/device_claims.py [--nodes 100] [--jobs 400] [--gpus 1] [--rounds 1] [--runs-dir DIR]

Starts a lab with each way of offering GPUs, one after the other, and runs the flow scale_test on it. Prints the KPIs of
both runs of each round, and writes the comparison of the last round (`perfanalysis compare`) into the second run. The
load average is printed, because other work on the machine affects every figure. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

EXTENDED, CLAIMS = "extended resource", "claims"
LAB = "bench-device-claims"
SHOWN = (
    *("scheduling_p50", "scheduling_p99", "allocation_p50", "claim_binding_p50", "scheduling_rate", "makespan"),
    *("scheduler_attempt_median", "scheduler_attempt_p99", "scheduler_algorithm_median", "scheduler_bind_median"),
    *("scheduler_cpu", "controllers_cpu", "apiserver_cpu", "etcd_cpu", "apiserver_requests", "gpu_fragmentation"),
    *("completed_ratio", "claims_leaked"),
)
PROGRAMS = Path(sys.executable).parent


def program(name: str, *arguments: str, **variables: str) -> str:
    """Run a program of the project; return its output."""
    done = subprocess.run(
        [PROGRAMS / name, *arguments], check=True, text=True, stdout=subprocess.PIPE, env={**os.environ, **variables}
    )
    return done.stdout


def run_flow(way: str, nodes: int, settings: Sequence[str], runs: Path) -> Path:
    """Run the flow on a new lab; return the directory of the run."""
    before = set(runs.glob("scale_test-*"))
    offered = ["--dra"] if way == CLAIMS else []
    program("perflab", "up", "--name", LAB, "--nodes", str(nodes), *offered)
    try:
        given = [word for setting in settings for word in ("--set", setting)]
        program("perfdrv", "run", "scale_test", "--site", "lab", "--runs-dir", str(runs), *given, PERF_LAB=LAB)
    finally:
        program("perflab", "down", "--name", LAB)
    (made,) = set(runs.glob("scale_test-*")) - before
    return made


def kpis(run: Path) -> dict[str, float | None]:
    document = json.loads((run / "report" / "kpis.json").read_text())
    return {each["name"]: each["value"] for each in document["kpis"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=400)
    parser.add_argument("--gpus", type=int, default=1, help="GPUs of each Job's pod")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--runs-dir", type=Path, help="folder of the runs [default: a temporary one]")
    args = parser.parse_args()
    runs = args.runs_dir or Path(tempfile.mkdtemp(prefix="device-claims-"))
    runs.mkdir(parents=True, exist_ok=True)
    settings = (
        *(f"scale_test_count={args.jobs}", f"scale_test_gpus={args.gpus}", "scale_test_duration=5s"),
        *("scale_test_preload_image=false", "scale_test_timeout=10m", "scale_test_connections=8"),
    )
    rounds: dict[str, list[dict[str, float | None]]] = {EXTENDED: [], CLAIMS: []}
    compared: list[str] = []
    for number in range(args.rounds):
        compared = []
        for way, found in rounds.items():
            print(f"round {number + 1}: {way}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
            run = run_flow(way, args.nodes, settings, runs)
            found.append(kpis(run))
            compared.append(str(run))
    print(f"{args.jobs} Jobs of {args.gpus} GPUs on {args.nodes} nodes, median of {args.rounds} rounds")
    print(f"| KPI | {' | '.join(rounds)} | ratio |\n| --- | --- | --- | --- |")
    for name in SHOWN:
        print(row(name, [[each[name] for each in found] for found in rounds.values()]))
    program("perfanalysis", "compare", *compared)
    print(f"comparison: {compared[-1]}/report/comparison.html")


def row(name: str, sides: Sequence[Sequence[float | None]]) -> str:
    known = [[value for value in side if value is not None] for side in sides]
    medians = [statistics.median(values) if values else None for values in known]
    cells = ["\u2013" if median is None else f"{median:.4g}" for median in medians]
    first, second = medians
    ratio = f"{second / first:.2f}" if first and second is not None else "\u2013"
    return f"| {name} | {' | '.join(cells)} | {ratio} |"


if __name__ == "__main__":
    main()
