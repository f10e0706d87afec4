"""The latency that the lab's gateway adds: pairs of requests through Envoy and to the server. Nothing is asserted.

    perflab up --name bench --nodes 2 --with kserve --with models
    python tests/bench/gateway_latency.py [--lab bench] [--pairs 1000]

Serves a model of two replicas without latency and requests one token, in pairs in random order, each way over its own
open connection. Prints both medians, and percentiles of the differences of the pairs.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import random
import statistics
import time
from urllib.parse import urlsplit

from perflab.cluster.api import Api, Document, connect
from perflab.files import places
from perflab.processes import state
from perflab.processes.state import Lab

MODELS = "/apis/serving.kserve.io/v1alpha2/namespaces/default/llminferenceservices"
NAME = "bench-gateway"
SERVED = {
    "apiVersion": "serving.kserve.io/v1alpha2",
    "kind": "LLMInferenceService",
    "metadata": {"name": NAME},
    "spec": {
        "model": {"uri": "hf://none/none", "name": "none"},
        "replicas": 2,
        "annotations": {"lab.psap.perf/model": "{name: none, ttft: 0, itl: 0}"},
        "router": {"route": {}, "gateway": {}, "scheduler": {}},
    },
}
BODY = json.dumps({"model": "none", "prompt": "why", "max_tokens": 1})


class Way:
    """A way to the model: an open connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._client = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        self._path = f"{parts.path}/v1/completions"

    def ask(self) -> float | None:
        """Send a request; return the seconds until its response, or None if it failed."""
        began = time.perf_counter()
        self._client.request("POST", self._path, BODY, {"Content-Type": "application/json"})
        answer = self._client.getresponse()
        answer.read()
        return time.perf_counter() - began if answer.status == 200 else None


async def ready(api: Api) -> Document:
    """Wait until the model is Ready and has a URL; return it."""
    while True:
        found = await api.get(f"{MODELS}/{NAME}")
        status = found.get("status", {})
        if status.get("url") and any(
            each["type"] == "Ready" and each["status"] == "True" for each in status["conditions"]
        ):
            return found
        await asyncio.sleep(0.2)


async def measured(lab: Lab, pairs: int) -> list[tuple[float, float]]:
    """Return the seconds through the gateway and direct, for each pair."""
    async with connect(lab.folder, lab.server) as api:
        await api.create(MODELS, SERVED)
        try:
            url = (await ready(api))["status"]["url"]
            ways = {"gateway": Way(url), "direct": Way(f"http://127.0.0.1:{lab.ports['models']}/default/{NAME}")}
            while any(way.ask() is None for way in ways.values()):
                await asyncio.sleep(0.1)
            return [pair(ways) for _ in range(pairs)]
        finally:
            await api.delete(f"{MODELS}/{NAME}")


def pair(ways: dict[str, Way]) -> tuple[float, float]:
    """Send one request each way."""
    took = {name: ways[name].ask() for name in random.sample(sorted(ways), 2)}
    if took["gateway"] is None or took["direct"] is None:
        raise SystemExit("a request failed")
    return took["gateway"], took["direct"]


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--lab", default="bench")
parser.add_argument("--pairs", type=int, default=1000)
asked = parser.parse_args()
found = asyncio.run(measured(state.get_running(places.home(), asked.lab), asked.pairs))
gateway, direct = (1000 * statistics.median(column) for column in zip(*found, strict=True))
percentiles = statistics.quantiles((1000 * (through - without) for through, without in found), n=100)
added = ", ".join(f"P{percent} {percentiles[percent - 1]:.2f}" for percent in (5, 25, 50, 75, 95))
print(f"{len(found)} pairs: median through the gateway {gateway:.2f} ms, direct {direct:.2f} ms; difference {added} ms")
