"""The cost of dynamic resource allocation: the same load by extended resources and by claims of devices.

    python tests/bench/device_claims.py [--nodes 100] [--jobs 400] [--gpus 1] [--rounds 1] [--runs-dir DIR]

Starts a lab for each way of requesting GPUs, one after the other, and runs the flow scale_test on it: as an extended
resource that nodes have, as claims of devices, and as the extended resource of a DeviceClass, for which the scheduler
creates the claims. Prints the KPIs, and writes the comparison of the last round (`perfanalysis compare`) into its last
run. The load average is printed, because other work on the machine affects every figure. Nothing is asserted.
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

EXTENDED, CLAIMS, BY_CLASS = "extended resource", "claims", "extended resource of a class"
LAB = "bench-device-claims"
SHOWN = (
    *("scheduling_p50", "scheduling_p99", "allocation_p50", "claim_binding_p50", "scheduling_rate", "makespan"),
    *("scheduler_attempt_median", "scheduler_attempt_p99", "scheduler_algorithm_median", "scheduler_bind_median"),
    *("scheduler_cpu", "controllers_cpu", "apiserver_cpu", "etcd_cpu", "apiserver_requests", "gpu_fragmentation"),
    *("completed_ratio", "claims_unused", "claims_leaked"),
)
PROGRAMS = Path(sys.executable).parent


def program(name: str, *arguments: str, **variables: str) -> str:
    """Run a program of the project; return its output."""
    done = subprocess.run(
        [PROGRAMS / name, *arguments], check=True, text=True, stdout=subprocess.PIPE, env={**os.environ, **variables}
    )
    return done.stdout


def requested(way: str, gpus: int) -> tuple[str, ...]:
    """Return the settings by which the pods of Jobs request GPUs."""
    if way != BY_CLASS:
        return (f"scale_test_gpus={gpus}",)
    limits = {"deviceclass.resource.kubernetes.io/gpu.nvidia.com": str(gpus)}
    container = {"name": "pytorch", "resources": {"limits": limits}}
    patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
    return ("scale_test_gpus=0", f"scale_test_patch={json.dumps(patch)}")


def run_flow(way: str, nodes: int, settings: Sequence[str], runs: Path) -> Path:
    """Run the flow on a new lab; return the directory of the run."""
    before = set(runs.glob("scale_test-*"))
    offered = [] if way == EXTENDED else ["--dra"]
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
        *(f"scale_test_count={args.jobs}", "scale_test_duration=5s"),
        *("scale_test_preload_image=false", "scale_test_timeout=10m", "scale_test_connections=8"),
    )
    rounds: dict[str, list[dict[str, float | None]]] = {way: [] for way in (EXTENDED, CLAIMS, BY_CLASS)}
    compared: list[str] = []
    for number in range(args.rounds):
        compared = []
        for way, found in rounds.items():
            print(f"round {number + 1}: {way}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
            run = run_flow(way, args.nodes, (*settings, *requested(way, args.gpus)), runs)
            found.append(kpis(run))
            compared.append(str(run))
    print(f"{args.jobs} Jobs of {args.gpus} GPUs on {args.nodes} nodes, median of {args.rounds} rounds")
    print(f"| KPI | {' | '.join(rounds)} | ratios |\n| --- |{' --- |' * (len(rounds) + 1)}")
    for name in SHOWN:
        print(row(name, [[each[name] for each in found] for found in rounds.values()]))
    # their settings differ where the pods request GPUs
    program("perfanalysis", "compare", "--force", *compared)
    print(f"comparison: {compared[-1]}/report/comparison.html")


def row(name: str, sides: Sequence[Sequence[float | None]]) -> str:
    known = [[value for value in side if value is not None] for side in sides]
    medians = [statistics.median(values) if values else None for values in known]
    cells = ["\u2013" if median is None else f"{median:.4g}" for median in medians]
    first, *others = medians
    ratios = [f"{other / first:.2f}" if first and other is not None else "\u2013" for other in others]
    return f"| {name} | {' | '.join(cells)} | {', '.join(ratios)} |"


if __name__ == "__main__":
    main()
