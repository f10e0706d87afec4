"""Submitters in pods compared with processes of this machine, in the same run. Nothing is asserted.

    perflab up --name bench --nodes 20 --with worker && perflab image load --name bench psap-perf
    PERF_LAB=bench python tests/bench/submitter_pods.py [--count 320] [--submitters 4] [--rounds 3] [--image IMAGE]

Both ways take turns, in changing order. A round submits Jobs of one second, and records them to their end; the rate is
that of the requests, from the first to the last response. The table has the medians of the rounds.
"""

# ruff: noqa: E402 - the collection can be imported after activate() only

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from perfdrv.collection import activate

PROJECT = Path(__file__).resolve().parents[2]
activate(PROJECT)
sys.path.insert(0, str(PROJECT))

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint, load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from perflab.files import places
from perflab.processes import state

from tests.bench.submissions import bench_request, empty_namespace

WAYS = ("processes", "pods")


@dataclass(frozen=True, slots=True)
class Round:
    """One submission; times in seconds."""

    accounts: str
    command_s: float
    rate: float
    start_spread_s: float
    latency_p50_s: float
    largest_offset_s: float


def one_round(endpoint: ApiEndpoint, arguments: argparse.Namespace, way: str) -> Round:
    """Submit and record once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        request = bench_request(
            folder,
            arguments.count,
            connections=arguments.connections,
            submitters=arguments.submitters,
            submitters_as=way,
            submitters_image=arguments.image,
        )
        began = time.monotonic()
        end = asyncio.run(requests.submit(endpoint, request, lambda: False))
        command_s = time.monotonic() - began
        rows = [json.loads(line) for line in (folder / "artifacts/submissions.jsonl").read_text().splitlines()]
        clocks = [json.loads(path.read_text()) for path in folder.glob("artifacts/submitters/*/clock.json")]
    first = [min(row["sent_s"] for row in rows if row["submitter"] == number) for number in range(arguments.submitters)]
    return Round(
        accounts=end.accounting.sentence(),
        command_s=command_s,
        rate=len(rows) / (max(row["answered_s"] for row in rows) - min(first)),
        start_spread_s=max(first) - min(first),
        latency_p50_s=statistics.median(row["answered_s"] - row["sent_s"] for row in rows),
        largest_offset_s=max((abs(clock["offset_s"]) for clock in clocks), default=0.0),
    )


def main() -> None:
    """Print the medians of both ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=320)
    parser.add_argument("--submitters", type=int, default=4)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--image", default="")
    arguments = parser.parse_args()
    lab = state.get_running(places.home(), os.environ.get("PERF_LAB", "bench"))
    endpoint = load_endpoint(str(lab.kubeconfig))
    found: dict[str, list[Round]] = {way: [] for way in WAYS}
    for number in range(arguments.rounds):
        for way in WAYS if number % 2 == 0 else reversed(WAYS):
            asyncio.run(empty_namespace(endpoint, "bench"))
            found[way].append(one_round(endpoint, arguments, way))
            print(way, found[way][-1], flush=True)
    print(f"load average {os.getloadavg()[0]:.1f}; medians of {arguments.rounds} rounds")
    print("way        command_s  requests/s  start spread ms  latency p50 ms  largest clock offset ms")
    for way, rounds in found.items():
        figures = {name: statistics.median(getattr(each, name) for each in rounds) for name in Round.__slots__[1:]}
        print(
            f"{way:<10} {figures['command_s']:9.1f} {figures['rate']:11.0f} {figures['start_spread_s'] * 1000:16.1f}"
            f" {figures['latency_p50_s'] * 1000:15.1f} {figures['largest_offset_s'] * 1000:24.2f}"
        )


if __name__ == "__main__":
    main()
