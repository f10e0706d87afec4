"""The error of a recording's times, compared with the API server's audit log. Nothing is asserted.

    perflab up --name bench --nodes 50 --audit
    PERF_LAB=bench python tests/bench/time_error.py [--count 400] [--rate 20]

Jobs are submitted at the given rate, and then as fast as the API server accepts them. For each transition the truth is
the moment at which the API server had completed the request that caused it, in microseconds: the POST of the Job, the
POST of the pod's binding, KWOK's first PATCH of the pod's status, the controller's last update of the Job's status.
``seen`` is the recorder's time minus that; slightly negative values are possible, because a watch event may be sent
before the response to the request is complete. ``stamp`` is the condition's whole seconds minus the truth.
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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from perfdrv.collection import activate

PROJECT = Path(__file__).resolve().parents[2]
activate(PROJECT)
sys.path.insert(0, str(PROJECT))

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.requests import submit
from perflab.files import places
from perflab.processes import state

from tests.bench.processes import OURS, measured
from tests.bench.submissions import bench_request, empty_namespace

TRUTHS = ("created", "scheduled", "running", "completed")
Truth = dict[tuple[str, str], float]


def requests_of(log: Path, since: int) -> Iterator[Mapping[str, Any]]:
    """Return the completed requests in the audit log from a byte on."""
    with log.open("rb") as stream:
        stream.seek(since)
        for line in stream:
            entry = json.loads(line)
            if entry["stage"] == "ResponseComplete" and entry.get("responseStatus", {}).get("code", 500) < 300:
                yield entry


def truths(log: Path, since: int, namespace: str) -> Truth:
    """Return when each transition of a Job or a pod was caused, in seconds since the epoch, by word and name."""
    found: Truth = {}
    for entry in requests_of(log, since):
        reference = entry.get("objectRef") or {}
        if reference.get("namespace") != namespace or "name" not in reference:
            continue
        name = reference["name"]
        at = datetime.fromisoformat(entry["stageTimestamp"]).timestamp()
        match entry["verb"], reference["resource"], reference.get("subresource"):
            case "create", "jobs", None:
                found["created", name] = at
            case "create", "pods", "binding":
                found["scheduled", name] = at
            case "patch", "pods", "status" if entry["userAgent"].startswith("kwok"):
                found["running", name] = min(at, found.get(("running", name), at))
            case "update" | "patch", "jobs", "status":
                found["completed", name] = max(at, found.get(("completed", name), at))
            case _:
                continue
    return found


@dataclass(frozen=True)
class Error:
    """The errors of one transition: seen minus truth, and the server's stamp minus truth, in seconds."""

    word: str
    seen_s: float
    stamp_s: float | None


def errors(transitions: Path, truth: Truth) -> list[Error]:
    """Return the errors of a recording."""
    found = []
    for row in map(json.loads, transitions.read_text().splitlines()):
        word = row["transition"]
        of_pod = word in ("scheduled", "running")
        if word not in TRUTHS or row["kind"] != ("Pod" if of_pod else "Job"):
            continue
        at = truth[word, row["name"]]
        stamp = row["server_s"] - at if row["resolution_s"] == 1.0 else None
        found.append(Error(word, row["seen_s"] - at, stamp))
    return found


def line(word: str, chosen: list[Error]) -> str:
    """Return a row of the table, in milliseconds."""
    seen = [error.seen_s * 1000 for error in chosen]
    stamps = [error.stamp_s * 1000 for error in chosen if error.stamp_s is not None]
    numbers = [statistics.median(seen), *_tails(seen), statistics.median(stamps), *_tails(stamps)]
    return f"{word:<10} {len(chosen):>6}  " + "  ".join(f"{number:>8.1f}" for number in numbers)


def _tails(values: list[float]) -> tuple[float, float]:
    """Return the first and 99th percentile."""
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return cuts[0], cuts[-1]


async def lag(late: list[float]) -> None:
    """Measure how late the event loop runs what is due, in seconds, which adds to every arrival."""
    while True:
        due = time.monotonic() + 0.002
        await asyncio.sleep(0.002)
        late.append(time.monotonic() - due)


async def one(lab: state.Lab, count: int, rate: float, metrics_s: float, folder: Path) -> list[Error]:
    """Submit, record and compare."""
    log = lab.folder / "audit.log"
    since = log.stat().st_size
    request = bench_request(folder, count, connections=8, rate=rate, metrics_s=metrics_s)
    endpoint = load_endpoint(str(lab.kubeconfig))
    with measured({}) as usage:
        lags: list[float] = []
        watching = asyncio.create_task(lag(lags))
        end = await submit(endpoint, request, lambda: False)
        watching.cancel()
    print(f"\n{end.accounting.sentence()}, in {end.progress.elapsed_s:.1f} s; metrics each {metrics_s:g} s")
    print(
        f"our loop was late by {statistics.median(lags) * 1000:.2f} ms (p99 {_tails(lags)[1] * 1000:.1f}); our process "
        f"used {usage.cpu_s[OURS]:.1f} s of CPU and waited {usage.waited_s:.1f} s for one"
    )
    namespace = request.assortment.namespaces[0]
    found = errors(folder / "artifacts" / "transitions.jsonl", truths(log, since, namespace))
    await empty_namespace(endpoint, namespace)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--metrics-interval", type=float, default=10.0)
    options = parser.parse_args()
    lab = state.get_running(places.home(), os.environ.get("PERF_LAB", "bench"))
    for rate in (options.rate, 0.0):
        with tempfile.TemporaryDirectory() as folder:
            found = asyncio.run(one(lab, options.count, rate, options.metrics_interval, Path(folder)))
        print(f"{f'at {rate:g}/s' if rate else 'saturated':<10} load {os.getloadavg()[0]:.1f}; milliseconds")
        print(f"{'':<10} {'n':>6}  {'seen p50':>8}  {'p1':>8}  {'p99':>8}  {'stamp p50':>8} {'p1':>8}  {'p99':>8}")
        for word in TRUTHS:
            print(line(word, [error for error in found if error.word == word]), flush=True)


if __name__ == "__main__":
    main()
