"""The rate of filling a cluster, compared with a raw HTTP loop that posts the same objects. Nothing is asserted.

    perflab up --name bench --nodes 4
    PERF_LAB=bench python tests/bench/fill_rate.py [--namespaces 20] [--count 100] [--rounds 3]

ConfigMaps of ten entries of 1 KiB go into dedicated namespaces, in turn by raw loops over 8, 32 and 128 connections
and as busy_cluster_create_configmaps does; ``again`` is a second call, for which all of them exist. The median of the
rounds is printed. Between the rounds the namespaces are deleted.
"""

# ruff: noqa: E402 - the collection can be imported after activate() only

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
from perfdrv.collection import activate

activate(Path(__file__).resolve().parents[2])

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint, load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.copies import NUMBER_MARK, Copies, Template
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.counting import count
from ansible_collections.psap.perf.plugins.module_utils.scale_test.filling.filling import FillRequest, plan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import concurrency_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import arrivals_at
from perflab.files import places
from perflab.processes import state

RAW_CONNECTIONS = (8, 32, 128)
LABELS = {"psap.perf/bench": "fill"}
SELECTOR = "psap.perf/bench=fill"
DATA = {f"entry-{number}": "0123456789abcdef" * 64 for number in range(10)}


def manifest(kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": f"bench-{NUMBER_MARK}"}, **fields}


async def fill(endpoint: ApiEndpoint, kind: dict[str, Any], number: int) -> float:
    """Find the missing objects and create them; return the seconds it took."""
    began = time.monotonic()
    request = FillRequest([kind], number, LABELS, SELECTOR, concurrency_of(0), arrivals_at(0))
    with tempfile.TemporaryDirectory() as folder:
        async with ApiClient(endpoint) as client:
            filling = await plan(client, request)
            await filling.run(Path(folder), lambda: False)
    filling.account.judge()
    return time.monotonic() - began


async def raw(endpoint: ApiEndpoint, copies: Copies, connections: int) -> float:
    """Post prepared bodies without handling the responses, as the upper limit of the rate."""
    bodies = [
        (f"/api/v1/namespaces/{copies.key(index)[1]}/configmaps", copies.at(index)) for index in range(len(copies))
    ]
    waiting = iter([(endpoint.server + path, copy.body) for path, copy in bodies])
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **endpoint.headers()}
    connector = aiohttp.TCPConnector(limit=0, ssl=endpoint.ssl_context() or True)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:
        began = time.monotonic()
        await asyncio.gather(*(_post_all(session, waiting) for _ in range(connections)))
        return time.monotonic() - began


async def _post_all(session: aiohttp.ClientSession, waiting: Iterator[tuple[str, bytes]]) -> None:
    for url, body in waiting:
        async with session.post(url, data=body) as response:
            await response.read()
            response.raise_for_status()


async def empty(endpoint: ApiEndpoint, namespaces: int) -> None:
    """Delete the namespaces, and wait until they are gone."""
    async with ApiClient(endpoint) as client:
        for number in range(namespaces):
            await client.request("DELETE", f"/api/v1/namespaces/bench-{number:05d}")
        while (await count(client, ["Namespace"], SELECTOR)).total:
            await asyncio.sleep(0.5)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--namespaces", type=int, default=20)
    parser.add_argument("--count", type=int, default=100, help="ConfigMaps in each namespace. [default: 100]")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    lab = state.get_running(places.home(), os.environ.get("PERF_LAB", "bench"))
    endpoint = load_endpoint(str(lab.kubeconfig))
    total = options.namespaces * options.count
    configmap = manifest("ConfigMap", data=DATA)
    names = [f"bench-{number:05d}" for number in range(options.namespaces)]
    copies = Copies([Template(configmap, LABELS)], options.count, names)
    ways = [f"raw over {number}" for number in RAW_CONNECTIONS] + ["fill"]
    rates: dict[str, list[float]] = {name: [] for name in [*ways, "again"]}
    print(f"{total} ConfigMaps of 10 KiB in {options.namespaces} namespaces; load {os.getloadavg()[0]:.1f}")
    for turn in range(options.rounds):
        for way in ways if turn % 2 else reversed(ways):
            asyncio.run(fill(endpoint, manifest("Namespace"), options.namespaces))
            if way == "fill":
                rates[way].append(total / asyncio.run(fill(endpoint, configmap, options.count)))
                rates["again"].append(total / asyncio.run(fill(endpoint, configmap, options.count)))
            else:
                rates[way].append(total / asyncio.run(raw(endpoint, copies, int(way.rpartition(" ")[2]))))
            asyncio.run(empty(endpoint, options.namespaces))
    limit = max(statistics.median(rates[way]) for way in ways[:-1])
    print(f"{'way':<14}{'objects/s':>10}{'least-most':>14}{'of raw':>8}")
    for way, found in rates.items():
        rate = statistics.median(found)
        print(f"{way:<14}{rate:>10.0f}{f'{min(found):.0f}-{max(found):.0f}':>14}{rate / limit:>8.2f}")


if __name__ == "__main__":
    main()
