"""The rate of submission, compared with a raw HTTP loop that posts the same objects. Nothing is asserted.

    perflab up --name bench --nodes 4
    PERF_LAB=bench python tests/bench/submit_rate.py [--count 1000] [--rounds 5] [--submitters 2] [--connections 0]…

The Jobs are suspended, so only the API server and etcd process them. The ways take turns, in changing order, and the
median of the rounds is printed with the CPU per workload of this process and of the API server. ``recorded`` does what
the command scale_test_submit does: the same submitter with its recorder watching in the same process. 0 connections
are as many as the API server accepts, compared with the raw loop over 8, 32 and 128, and with a program in Go
(``compiled_client``, built first) that has as many concurrent requests over HTTP/2. ``raw x2`` and ``2 submitters``
are two processes that share the connections and begin together: their start counts for the CPU, but not for the rate.
"""

# ruff: noqa: E402 - the collection can be imported after activate() only

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
from perfdrv.collection import activate

PROJECT = Path(__file__).resolve().parents[2]
activate(PROJECT)
sys.path.insert(0, str(PROJECT))

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint, load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Journal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import MANAGED_BY, Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import EVENTS, ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.attribution import Attribution
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import lifecycle_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.recorder import Recorder, Scope
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import Folder, read_go
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.gathering import (
    GatheredSubmission,
    shares,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.process import LocalProcesses
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import concurrency_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import (
    SubmissionTools,
    Submitter,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import OwnSubmission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import arrivals_at
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import AssortedWorkloads
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import WorkloadPlan, Workloads
from perflab.files import places
from perflab.processes import state

from tests.bench.processes import children_cpu, cpu_seconds

CONNECTIONS = (0, 1, 8, 32)
# compared with 0, which is as many as the API server accepts
RAW_CONNECTIONS = (8, 32, 128)
COMPILED_CLIENT = Path(__file__).with_name("compiled_client")
NAMESPACE = "default"
JOB = ResourceKind("batch/v1", "Job", "jobs")
TEMPLATE = """
apiVersion: batch/v1
kind: Job
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: none, resources: {limits: {nvidia.com/gpu: 1}}}]
"""


@dataclass(frozen=True)
class Sample:
    """One round of one way: workloads a second, and CPU milliseconds a workload."""

    rate: float
    own_ms: float
    server_ms: float


@dataclass(frozen=True)
class Round:
    """What one round posts, and over how many connections."""

    endpoint: ApiEndpoint
    workloads: Workloads
    count: int
    connections: int
    submitters: int


Way = Callable[[Round], Coroutine[Any, Any, float]]


async def raw(asked: Round) -> float:
    """Post prepared bodies without keeping or handling responses, as the upper limit of the rate."""
    bodies = [asked.workloads.body(index) for index in range(asked.count)]
    started = time.monotonic()
    return await _post(asked.endpoint, bodies, asked.connections) - started


async def _post(endpoint: ApiEndpoint, bodies: list[bytes], connections: int) -> float:
    """Return the time of the last response."""
    waiting = iter(bodies)
    url = endpoint.server + JOB.collection(NAMESPACE)
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **endpoint.headers()}
    connector = aiohttp.TCPConnector(limit=0, ssl=endpoint.ssl_context() or True)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        await asyncio.gather(*(_post_all(session, url, waiting) for _ in range(connections)))
        return time.monotonic()


async def _post_all(session: aiohttp.ClientSession, url: str, bodies: Iterator[bytes]) -> None:
    for body in bodies:
        async with session.post(url, data=body) as response:
            await response.read()
            response.raise_for_status()


async def submitter(asked: Round) -> float:
    """Run the submitter with its rows written to a file."""
    async with ApiClient(asked.endpoint) as client:
        return await _submitted(asked, client)


async def recorded(asked: Round) -> float:
    """Run the submitter and the recorder."""
    with tempfile.TemporaryDirectory() as folder:
        transitions, events = (Journal(Path(folder) / name) for name in ("transitions", "events"))
        async with ApiClient(asked.endpoint) as client:
            scope = Scope(NAMESPACE, JOB, lifecycle_of("Job"), asked.workloads.submission.selector)
            attribution = Attribution(asked.workloads.submission.workload_in, frozenset({JOB.kind}), closed=True)
            recorder = Recorder(client, [scope], RunClock.tied(), transitions, events, attribution)
            await recorder.start()
            try:
                return await _submitted(asked, client)
            finally:
                await recorder.stop()
                transitions.close()
                events.close()


async def _submitted(asked: Round, client: ApiClient) -> float:
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "submissions")
        tools = SubmissionTools(client, RunClock.tied(), journal.append)
        own = Submitter(tools, AssortedWorkloads.alike(asked.workloads), {(JOB.api_version, JOB.kind): JOB})
        started = time.monotonic()
        await own.submit(range(asked.count), concurrency=concurrency_of(asked.connections), arrivals=arrivals_at(0))
        taken = time.monotonic() - started
        journal.close()
    if own.counts.refused:
        raise SystemExit(f"{own.counts.refused} workloads were refused")
    return taken


async def several_raw(asked: Round) -> float:
    """Run raw loops in several processes that begin together, as their upper limit."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(asked.submitters + 1)
    ends = context.Queue()
    with ExitStack() as stack:
        for number, connections in enumerate(shares(asked.connections, asked.submitters)):
            bodies = [asked.workloads.body(index) for index in range(number, asked.count, asked.submitters)]
            process = context.Process(target=_raw_process, args=(asked.endpoint, bodies, connections, ready, ends))
            process.start()
            stack.callback(process.join)
        ready.wait()
        started = time.monotonic()
        return float(max(ends.get() for _ in range(asked.submitters))) - started


def _raw_process(endpoint: ApiEndpoint, bodies: list[bytes], connections: int, ready: Any, ends: Any) -> None:
    ready.wait()
    ends.put(asyncio.run(_post(endpoint, bodies, connections)))


async def several(asked: Round) -> float:
    """Run several gathered submitters."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "submitters"
        own = OwnSubmission(
            AssortedWorkloads.alike(asked.workloads),
            {(JOB.api_version, JOB.kind): JOB},
            asked.count,
            asked.connections,
            arrivals_at(0),
        )
        asking = GatheredSubmission(own, asked.submitters, folder, LocalProcesses(asked.endpoint))
        async with ApiClient(asked.endpoint) as client:
            submitting = asking.begin(SubmissionTools(client, RunClock.tied(), rows.append))
            await submitting.run()
        began = read_go(Folder(folder))
    if submitting.failure or began is None or len(rows) < asked.count:
        raise SystemExit(f"{len(rows)} of {asked.count} were submitted: {submitting.failure}")
    return max(float(row["answered_s"]) for row in rows) - began


async def empty(endpoint: ApiEndpoint) -> None:
    """Delete a round's objects, and wait until they are gone."""
    async with ApiClient(endpoint) as client:
        path, selector = JOB.collection(NAMESPACE), {"labelSelector": f"{MANAGED_BY}=psap.perf"}
        await client.request("DELETE", path, params={**selector, "propagationPolicy": "Background"})
        # else a recorder lists the objects of all earlier rounds
        await client.request("DELETE", EVENTS.collection(NAMESPACE))
        while json.loads((await client.request("GET", path, params={**selector, "limit": "1"})).body)["items"]:
            await asyncio.sleep(0.2)


def own_cpu() -> float:
    """Return the CPU seconds that this process and its awaited children have used."""
    return time.process_time() + children_cpu()


def measure(way: Way, asked: Round, pid: int) -> Sample:
    own, server = own_cpu(), cpu_seconds(pid)
    taken = asyncio.run(way(asked))
    own, server = own_cpu() - own, cpu_seconds(pid) - server
    asyncio.run(empty(asked.endpoint))
    return Sample(asked.count / taken, own / asked.count * 1000, server / asked.count * 1000)


def raw_over(connections: int) -> Way:
    """Return the raw loop over this many connections, independent of the round's number."""

    async def way(asked: Round) -> float:
        return await raw(replace(asked, connections=connections))

    return way


def compiled_over(program: Path, pki: Path, concurrent: int) -> Way:
    """Return the compiled client with this many concurrent requests over HTTP/2."""

    async def way(asked: Round) -> float:
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as bodies:
            Path(bodies.name).write_bytes(b"\n".join(map(asked.workloads.body, range(asked.count))))
            words = {
                "url": asked.endpoint.server + JOB.collection(NAMESPACE),
                "bodies": bodies.name,
                "ca": str(pki / "ca.crt"),
                "cert": str(pki / "admin.crt"),
                "key": str(pki / "admin.key"),
                "concurrent": str(concurrent),
            }
            command = [str(program), *(word for name, value in words.items() for word in (f"--{name}", value))]
            done = await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True, text=True)
        protocol, taken = done.stdout.split()
        if protocol != "HTTP/2.0":
            raise SystemExit(f"the API server spoke {protocol}")
        return float(taken)

    return way


def built_client(folder: Path) -> Path:
    """Build the compiled client, with the standard library only."""
    program = folder / "compiled_client"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=COMPILED_CLIENT, check=True)
    return program


def ways(connections: int, submitters: int, compiled: Callable[[int], Way]) -> tuple[dict[str, Way], dict[str, Way]]:
    """Return the ways of one process and of several, limits first."""
    ours: dict[str, Way] = {"submitter": submitter, "recorded": recorded}
    if connections == 0:
        limits = {f"raw over {number}": raw_over(number) for number in RAW_CONNECTIONS}
        limits |= {f"compiled {number}": compiled(number) for number in RAW_CONNECTIONS[1:]}
        return limits | ours, {}
    several_ways: dict[str, Way] = {f"raw x{submitters}": several_raw, f"{submitters} submitters": several}
    return {"raw": raw} | ours, several_ways if connections >= submitters else {}


def row(connections: int, name: str, samples: list[Sample], limit: float) -> str:
    rates = [sample.rate for sample in samples]
    rate = statistics.median(rates)
    own, server = (statistics.median(getattr(sample, field) for sample in samples) for field in ("own_ms", "server_ms"))
    spread = f"{min(rates):.0f}-{max(rates):.0f}"
    return (
        f"{connections:>11}  {name:<12} {rate:>7.0f}  {spread:>11}  {rate / limit:>6.2f}  {own:>6.2f}  {server:>9.2f}"
    )


def main(stack: ExitStack) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--submitters", type=int, default=2)
    parser.add_argument("--connections", type=int, action="append", help=f"Repeatable. [default: {CONNECTIONS}]")
    options = parser.parse_args()
    lab = state.get_running(places.home(), os.environ.get("PERF_LAB", "bench"))
    endpoint, pid = load_endpoint(str(lab.kubeconfig)), lab.pids["kube-apiserver"].pid
    print(f"{options.count} suspended Jobs, {options.rounds} rounds, median; load {os.getloadavg()[0]:.1f}")
    print(f"connections  {'way':<12} {'Jobs/s':>7}  {'least-most':>11}  {'of raw':>6}  own ms  server ms")
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    compiled = partial(compiled_over, built_client(folder), lab.kubeconfig.parent / "pki")
    for connections in options.connections or CONNECTIONS:
        alone, together = ways(connections, options.submitters, compiled)
        every = {**alone, **together}
        samples: dict[str, list[Sample]] = {name: [] for name in every}
        for number in range(options.rounds):
            order = list(every) if number % 2 else list(reversed(every))
            for name in order:
                submission = Submission.of(f"bench-{time.time_ns()}", name)
                workloads = Workloads(WorkloadPlan(TEMPLATE, "bench", NAMESPACE, 1, {}, {}), submission)
                asked = Round(endpoint, workloads, options.count, connections, options.submitters)
                samples[name].append(measure(every[name], asked, pid))
        for name in every:
            beside = together if name in together else alone
            limit = max(
                statistics.median(sample.rate for sample in samples[other])
                for other in beside
                if other.startswith(("raw", "compiled"))
            )
            print(row(connections, name, samples[name], limit), flush=True)


if __name__ == "__main__":
    with ExitStack() as opened:
        main(opened)
