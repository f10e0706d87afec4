"""The cost of a recording: one submission alone, recorded, and with the control plane's metrics. Nothing is asserted.

    perflab up --name bench --nodes 50
    PERF_LAB=bench python tests/bench/watch_overhead.py [--count 300] [--rounds 3]

The ways take turns, in changing order; the median of the rounds is printed. The rate of completion comes from the
controller manager's own counter, which is read four times a second.
"""

# ruff: noqa: E402 - the collection can be imported after activate() only

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfdrv.collection import activate

PROJECT = Path(__file__).resolve().parents[2]
activate(PROJECT)
sys.path.insert(0, str(PROJECT))

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint, load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.pages import PageReader
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsSettings, Target
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.selection import (
    CONTROLLERS,
    COUNTER,
    Metric,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import read_surroundings
from perflab.files import places
from perflab.processes import state

from tests.bench.processes import CHILDREN, OURS, Usage, measured
from tests.bench.submissions import bench_request, empty_namespace, submit_alone

FINISHED = PageReader([Metric("job_controller_jobs_finished_total", COUNTER, ("result",))])
CONNECTIONS = 8


@dataclass(frozen=True)
class Sample:
    """One round of one way."""

    completed_per_s: float
    usage: Usage


async def finished(client: ApiClient, path: str) -> float:
    """Return the number of Jobs that have ever finished, by the controller manager's counter."""
    answer = await client.request("GET", path)
    return sum(sample.value for sample in FINISHED.read(answer.body))


async def alone(endpoint: ApiEndpoint, request: requests.SubmitRequest) -> None:
    """Submit without a recording."""
    await submit_alone(endpoint, request)


async def recorded(endpoint: ApiEndpoint, request: requests.SubmitRequest) -> None:
    """Submit and record to the end."""
    await requests.submit(endpoint, request, lambda: False)


async def controllers(endpoint: ApiEndpoint) -> Target:
    """Return the address of the metrics of the lab's controller manager."""
    async with ApiClient(endpoint) as client:
        plan = MetricsSettings(1.0).plan((await read_surroundings(client)).metrics_endpoints)
    if plan is None:
        raise SystemExit("the lab publishes no address of its metrics")
    return next(target for target in plan.targets(endpoint) if target.component == CONTROLLERS)


Way = Callable[[ApiEndpoint, requests.SubmitRequest], Coroutine[Any, Any, None]]


async def one(lab: state.Lab, way: Way, count: int, metrics_s: float, folder: Path) -> Sample:
    """Run one round, from the first request to the last completion."""
    endpoint = load_endpoint(str(lab.kubeconfig))
    target = await controllers(endpoint)
    request = bench_request(folder, count, connections=CONNECTIONS, metrics_s=metrics_s)
    pids = {name: identity.pid for name, identity in lab.pids.items()}
    async with ApiClient(target.endpoint) as client:
        until = await finished(client, target.path) + count
        with measured(pids) as usage:
            began = time.monotonic()
            working = asyncio.create_task(way(endpoint, request))
            while await finished(client, target.path) < until:
                await asyncio.sleep(0.25)
            taken = time.monotonic() - began
            await working
    await empty_namespace(endpoint, "bench")
    return Sample(count / taken, usage)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    lab = state.get_running(places.home(), os.environ.get("PERF_LAB", "bench"))
    ways: dict[str, tuple[Way, float]] = {
        "alone": (alone, 0.0),
        "recorded": (recorded, 0.0),
        "recorded, metrics 10 s": (recorded, 10.0),
        "recorded, metrics 1 s": (recorded, 1.0),
    }
    samples: dict[str, list[Sample]] = {name: [] for name in ways}
    for number in range(options.rounds):
        for name in list(ways) if number % 2 else list(reversed(ways)):
            way, metrics_s = ways[name]
            with tempfile.TemporaryDirectory() as folder:
                samples[name].append(asyncio.run(one(lab, way, options.count, metrics_s, Path(folder))))
    print(f"{options.count} Jobs, {options.rounds} rounds, median; load {os.getloadavg()[0]:.1f}; CPU ms a Job")
    print(
        f"{'way':<24} {'completed/s':>11}  {'of alone':>8}  {'ours':>6}  {'scraper':>7}  {'API server':>10}  {'all':>6}"
    )
    limit = statistics.median(sample.completed_per_s for sample in samples["alone"])
    for name, found in samples.items():
        rate = statistics.median(sample.completed_per_s for sample in found)
        costs = [_cost(found, chosen, options.count) for chosen in ((OURS,), (CHILDREN,), ("kube-apiserver",), ())]
        ours, scraper, server, everything = costs
        columns = (
            f"{rate:>11.1f}  {rate / limit:>8.2f}  {ours:>6.2f}  {scraper:>7.2f}  {server:>10.2f}  {everything:>6.1f}"
        )
        print(f"{name:<24} {columns}")


def _cost(samples: list[Sample], names: tuple[str, ...], count: int) -> float:
    """Return CPU milliseconds a Job of some processes, or of all if none is named; the median of the rounds."""
    of = [[sample.usage.cpu_s[name] for name in names or sample.usage.cpu_s] for sample in samples]
    return statistics.median(sum(seconds) for seconds in of) / count * 1000


if __name__ == "__main__":
    main()
