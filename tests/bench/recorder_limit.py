"""The recorder's maximum rate of workloads, and its memory. Nothing is asserted.

    perflab up --name bench --nodes 4
    PERF_LAB=bench python tests/bench/recorder_limit.py [--workloads 20000]

The watch events of one Job, its pod and its events in a lab are captured byte for byte, from beginning to end. Another
process then replays them for many workloads, each with its own names and uids, as fast as they are read.
"""

# ruff: noqa: E402 - the collection can be imported after activate() only

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from aiohttp import web
from perfdrv.collection import activate

PROJECT = Path(__file__).resolve().parents[2]
activate(PROJECT)
sys.path.insert(0, str(PROJECT))

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint, load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Journal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import EVENTS, PODS, ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.attribution import Attribution
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import lifecycle_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.recorder import Recorder, Scope
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.related_objects import EVERYWHERE
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.collector import calm_collector
from perflab.files import places
from perflab.processes import state

from tests.bench.processes import OURS, measured, resident
from tests.bench.submissions import bench_request, empty_namespace, submit_alone

NAMESPACE = "bench"
JOBS = ResourceKind("batch/v1", "Job", "jobs")
WATCHED = (JOBS, PODS, EVENTS)
_QUIET_S = 4.0
_UID = re.compile(rb'"uid":"([0-9a-f-]{36})"')

Streams = Mapping[str, list[bytes]]


async def _capture(client: ApiClient, path: str, lines: list[bytes], ready: asyncio.Event) -> None:
    version = (await client.request("GET", path, params={"limit": "1"})).document()["metadata"]["resourceVersion"]
    async with client.stream(path, {"watch": "true", "resourceVersion": version}) as response:
        ready.set()
        async for line in response.content:
            lines.append(line)


async def one_workload(endpoint: ApiEndpoint, folder: Path) -> tuple[Streams, str]:
    """Return the watch events of one Job, by the path of each watch, and the Job's name."""
    request = bench_request(folder, 1, connections=1)
    streams: dict[str, list[bytes]] = {kind.collection(NAMESPACE): [] for kind in WATCHED}
    async with ApiClient(endpoint) as client:
        ready = [asyncio.Event() for _ in streams]
        tasks = [
            asyncio.create_task(_capture(client, path, lines, event))
            for (path, lines), event in zip(streams.items(), ready, strict=True)
        ]
        for event in ready:
            await event.wait()
        await submit_alone(endpoint, request)
        changes = -1
        while changes != (changes := sum(map(len, streams.values()))) or not changes:
            await asyncio.sleep(_QUIET_S)
        for task in tasks:
            task.cancel()
    await empty_namespace(endpoint, NAMESPACE)
    name = json.loads(streams[JOBS.collection(NAMESPACE)][0])["object"]["metadata"]["name"]
    return streams, name


class Player:
    """Replays the watch events of one workload for many."""

    def __init__(self, streams: Streams, name: str, workloads: int) -> None:
        self._streams = streams
        self._name = name.encode()
        self._workloads = workloads
        self._uids = sorted({uid for lines in streams.values() for line in lines for uid in _UID.findall(line)})

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer lists with no items, and watches with the events."""
        if request.path == "/apis":
            return web.json_response({"groups": []})
        if not request.query.get("watch"):
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": []})
        response = web.StreamResponse()
        await response.prepare(request)
        lines = self._streams.get(request.path, [])
        with suppress(ConnectionError):
            for number in range(self._workloads if lines else 0):
                await response.write(self._renamed(b"".join(lines), number))
            await asyncio.Event().wait()
        return response

    def _renamed(self, lines: bytes, number: int) -> bytes:
        prefix = self._name.rpartition(b"-")[0]
        lines = lines.replace(self._name, b"%s-%05d" % (prefix, number))
        for uid in self._uids:
            lines = lines.replace(uid, b"%08x%s" % (number, uid[8:]))
        return lines


def play(player: Player, port: Connection) -> None:
    """Run the replaying process."""

    async def serve() -> None:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", player.handle)
        runner = web.AppRunner(application)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(serve())


async def follow(server: str, name: str, workloads: int, folder: Path) -> float:
    """Record until all have completed; return the seconds it took."""
    transitions, events = Journal(folder / "transitions"), Journal(folder / "events")
    known = re.compile(rf"{name.rpartition('-')[0]}-\d{{5,}}")

    def workload_in(text: str) -> str | None:
        found = known.match(text)
        return found.group() if found else None

    async with ApiClient(ApiEndpoint(server)) as client:
        attribution = Attribution(workload_in, frozenset({JOBS.kind}), closed=True)
        scope = Scope(NAMESPACE, JOBS, lifecycle_of("Job"), "any")
        recorder = Recorder(client, [scope], RunClock.tied(), transitions, events, attribution, EVERYWHERE)
        began = time.monotonic()
        await recorder.start()
        while recorder.ledger.totals["completed"] < workloads or recorder.ledger.pods["succeeded"] < workloads:
            await asyncio.sleep(0.1)
            recorder.check()
            transitions.flush()
            events.flush()
        taken = time.monotonic() - began
        await recorder.stop()
    transitions.close()
    events.close()
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=int, default=20_000)
    options = parser.parse_args()
    lab = state.get_running(places.home(), os.environ.get("PERF_LAB", "bench"))
    with tempfile.TemporaryDirectory() as temporary:
        streams, name = asyncio.run(one_workload(load_endpoint(str(lab.kubeconfig)), Path(temporary)))
    context = multiprocessing.get_context("fork")
    receiver, port = context.Pipe()
    player = context.Process(target=play, args=(Player(streams, name, options.workloads), port), daemon=True)
    player.start()
    server = f"http://127.0.0.1:{receiver.recv()}"
    before = resident(os.getpid())
    with tempfile.TemporaryDirectory() as temporary, measured({}) as usage, calm_collector():
        taken = asyncio.run(follow(server, name, options.workloads, Path(temporary)))
    player.kill()
    changes = sum(len(lines) for lines in streams.values())
    size = sum(len(line) for lines in streams.values() for line in lines)
    print(f"{changes} changes and {size / 1000:.0f} kB a workload; load {os.getloadavg()[0]:.1f}")
    print(f"{options.workloads} workloads in {taken:.1f} s: {options.workloads / taken:.0f} a second")
    print(f"{usage.cpu_s[OURS] / options.workloads * 1000:.2f} ms of CPU a workload")
    print(f"{before / 1e6:.0f} MB before, {usage.memory[OURS] / 1e6:.0f} MB at most")


if __name__ == "__main__":
    main()
