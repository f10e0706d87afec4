"""One large submission on a dedicated lab, or on the one that PERF_LAB names, with the usage of every process.

    python tests/bench/scale_figures.py --jobs 5000 --nodes 1000
    python tests/bench/scale_figures.py --jobs 20000 --nodes 5000 --connections 16 --submitters 2 --keep FOLDER

Prints the rates of submission and completion, the percentiles of the durations, CPU and memory of each process of the
lab and of this one (submitter and recorder; the metrics scraper and other submitters are children), the accounting.
Nothing is asserted.
"""

# ruff: noqa: E402 - the collection can be imported after activate() only

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perfdrv.collection import activate

PROJECT = Path(__file__).resolve().parents[2]
activate(PROJECT)
sys.path.insert(0, str(PROJECT))

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from perfdrv.views.percentiles import percentile_lines
from perflab.files import places
from perflab.processes import state

from tests.bench.processes import measured, usage_table
from tests.bench.submissions import bench_request

PERFLAB = str(Path(sys.executable).parent / "perflab")


@contextmanager
def lab_of(nodes: int, gpus: int) -> Iterator[state.Lab]:
    """Yield the lab that PERF_LAB names, else start one for this bench."""
    if "PERF_LAB" in os.environ:
        yield state.get_running(places.home(), os.environ["PERF_LAB"])
        return
    name = f"figures-{os.getpid()}"
    began = time.monotonic()
    subprocess.run([PERFLAB, "up", "--name", name, "--nodes", str(nodes), "--gpus", str(gpus)], check=True)
    print(f"lab of {nodes} nodes up after {time.monotonic() - began:.1f} s")
    try:
        yield state.get_running(places.home(), name)
    finally:
        subprocess.run([PERFLAB, "down", "--name", name], check=True)


def report(folder: Path, end: SessionEnd, seconds: float) -> None:
    """Print the figures of the recording."""
    rows = [json.loads(line) for line in (folder / "submissions.jsonl").read_text().splitlines()]
    transitions = [json.loads(line) for line in (folder / "transitions.jsonl").read_text().splitlines()]
    ended = [row["seen_s"] for row in transitions if row["kind"] == "Job" and row["transition"] == "completed"]
    sent = min(row["sent_s"] for row in rows)
    answered = max(row["answered_s"] for row in rows)
    print(f"submitted  {len(rows)} in {answered - sent:.1f} s: {len(rows) / (answered - sent):.0f}/s")
    print(f"completed  {len(ended)} in {max(ended) - sent:.1f} s: {len(ended) / (max(ended) - sent):.1f}/s")
    print(f"accounts   {end.accounting.sentence()}; identity holds: {end.accounting.identity_holds}")
    print(f"recording  {seconds:.1f} s, {len(transitions)} transitions, {_megabytes(folder):.0f} MB; by {end.ended_by}")
    recording = json.loads((folder / "recording.json").read_text())
    print(f"watches    {recording['reconnects']} reconnects, {recording['relists']} relists")
    print("\n".join(percentile_lines(end.progress.document())))


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.iterdir()) / 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--submitters", type=int, default=1)
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--duration", type=float, default=1.0)
    parser.add_argument("--metrics-interval", type=float, default=10.0)
    parser.add_argument("--timeout", type=float, default=3600.0)
    parser.add_argument("--keep", type=Path, help="keep the recording in this folder")
    options = parser.parse_args()
    with lab_of(options.nodes, options.gpus) as lab, tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        request = bench_request(
            folder,
            options.jobs,
            connections=options.connections,
            rate=options.rate,
            metrics_s=options.metrics_interval,
            submitters=options.submitters,
            duration_s=options.duration,
            timeout_s=options.timeout,
        )
        endpoint = load_endpoint(str(lab.kubeconfig))
        with measured({name: identity.pid for name, identity in lab.pids.items()}) as usage:
            end = asyncio.run(requests.submit(endpoint, request, lambda: False))
        report(folder / "artifacts", end, usage.seconds)
        print(f"load {os.getloadavg()[0]:.1f}; this process waited {usage.waited_s:.1f} s for a CPU")
        print(usage_table(usage, options.jobs), flush=True)
        if options.keep:
            shutil.copytree(folder / "artifacts", options.keep, dirs_exist_ok=True)


if __name__ == "__main__":
    main()
