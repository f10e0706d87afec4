"""Figures of a real node with many pods: time until all run, memory and CPU of its programs. Nothing is asserted.

    python tests/bench/real_pods.py [--pods 50] [--keep]

Creates the pods of the image `pause` concurrently, waits until all run, and deletes them; with `--keep`, `perflab down`
deletes them. Memory is the proportional set size, in which processes share the pages of their program. Without root, a
real node without root is measured. The end of the output lists what `perflab down` left of the node, and for how long.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from perflab.cluster.api import Api, connect, in_bulk
from perflab.cluster.real_node import REAL
from perflab.files import places
from perflab.processes import process, state
from perflab.processes.state import Lab
from perflab.worker.images import PAUSE

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.lab_commands import PERFLAB, perflab
from tests.bench.processes import children_cpu, cpu_seconds
from tests.integration.lab import machine

NAME = "bench-real-pods"
PODS = "/api/v1/namespaces/default/pods"
POLL_S = 0.2
REST_S = 10.0
DELETED_WITHIN_S = 300.0
# `perflab up` prints the last line that begins so when the API server is ready
STARTING = "starting "
NODE = ("kubelet", "containerd", "containerd-shim-runc-v2", "kube-proxy", "coredns")
CONTROL_PLANE = ("kube-apiserver", "etcd", "kube-controller-manager", "kube-scheduler", "metrics-server")


def up() -> None:
    started, server_s = time.monotonic(), 0.0
    words = (*PERFLAB, "up", "--name", NAME, "--nodes", "2", "--with", "worker")
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr or ():
            if line.startswith(STARTING):
                server_s = time.monotonic() - started
    taken_s = time.monotonic() - started
    if process.returncode != 0:
        sys.exit(f"perflab up failed with code {process.returncode}")
    print(f"API server ready after {server_s:.1f} s, controllers and nodes {taken_s - server_s:.1f} s later")


def pod(number: int) -> dict[str, Any]:
    resources = {"requests": {"cpu": "10m", "memory": "4Mi"}}
    spec = {
        "nodeSelector": {REAL: "true"},
        "tolerations": [{"key": REAL, "operator": "Exists"}],
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": PAUSE, "resources": resources}],
    }
    return {"metadata": {"name": f"pod-{number:03}"}, "spec": spec}


def programs(lab: Lab) -> dict[int, str]:
    """Process → program of the lab and of its node."""
    found = {}
    for each in process.find_marked(lab.folder):
        name = Path(f"/proc/{each.pid}/exe").resolve().name
        found[each.pid] = name if name in (*NODE, *CONTROL_PLANE) else "others"
    return found


def memory_mb(pid: int) -> float:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    found = re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def cpu_s(pid: int) -> float:
    return cpu_seconds(pid, children=True)


def by_program(lab: Lab, measured: Callable[[int], float]) -> dict[str, float]:
    used: defaultdict[str, float] = defaultdict(float)
    for pid, name in programs(lab).items():
        # those that set up a container end at any time
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            used[name] += measured(pid)
    return used


def difference(after: dict[str, float], before: dict[str, float]) -> dict[str, float]:
    return {name: value - before.get(name, 0) for name, value in after.items()}


def shown(values: dict[str, float], unit: str) -> str:
    largest = sorted(values.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {value:.1f} {unit}" for name, value in largest if value >= 0.1)


async def count(api: Api, *, running: bool) -> int:
    found = await api.list(PODS)
    return sum(each["status"].get("phase") == "Running" for each in found) if running else len(found)


async def measure(lab: Lab, pods: int, *, keep: bool) -> None:
    async with connect(lab.folder, lab.server) as api:
        await asyncio.sleep(REST_S)
        print(f"load average before: {os.getloadavg()[0]:.1f}")
        print(f"memory before: {shown(by_program(lab, memory_mb), 'MB')}")
        cpu, started = by_program(lab, cpu_s), time.monotonic()

        async def create(number: int) -> None:
            await api.create(PODS, pod(number))

        await in_bulk(range(pods), create)
        half = None
        while (running := await count(api, running=True)) < pods:
            half = half or (time.monotonic() - started if running >= pods / 2 else None)
            await asyncio.sleep(POLL_S)
        print(f"{pods} pods run after {time.monotonic() - started:.1f} s, half of them after {half or 0:.1f} s")
        used = difference(by_program(lab, cpu_s), cpu)
        print(f"CPU: {shown(used, 's')}; in all {sum(used.values()) / pods:.2f} s a pod")
        print(f"load average: {os.getloadavg()[0]:.1f}")
        await asyncio.sleep(REST_S)
        print(f"memory with {pods} pods: {shown(by_program(lab, memory_mb), 'MB')}")
        cpu = by_program(lab, cpu_s)
        await asyncio.sleep(REST_S)
        rest = {name: value / REST_S * 100 for name, value in difference(by_program(lab, cpu_s), cpu).items()}
        print(f"CPU at rest with {pods} pods, in % of a core: {sum(rest.values()):.1f}; {shown(rest, '%')}")
        if keep:
            return
        started = time.monotonic()
        await api.delete(PODS)
        while await count(api, running=False):
            await asyncio.sleep(POLL_S)
        print(f"deleted after {time.monotonic() - started:.1f} s")


def down() -> None:
    before = children_cpu()
    taken_s = perflab("down", "--name", NAME)
    used_s = children_cpu() - before
    print(f"perflab down after {taken_s:.1f} s, {used_s:.1f} s of CPU; load average: {os.getloadavg()[0]:.1f}")


def present(lab: Lab, spaces: set[str]) -> str:
    """Return the number of things of each kind that are present of the node."""
    found = {kind: len(names) for kind, names in machine.traces(lab, spaces).items()}
    return ", ".join(f"{number} {kind}" for kind, number in found.items() if number)


def report_rest(lab: Lab, spaces: set[str], settings: dict[str, set[str]]) -> None:
    """Print what is present after `perflab down`, until nothing is."""
    started = time.monotonic()
    print(f"left: {present(lab, spaces) or 'nothing'}")
    while (left := present(lab, spaces)) and time.monotonic() - started < DELETED_WITHIN_S:
        time.sleep(POLL_S)
    print(f"left {time.monotonic() - started:.1f} s later: {left or 'nothing'}")
    changed = [kind for kind, names in machine.settings().items() if names != settings[kind]]
    print(f"changed outside of the node: {', '.join(changed) or 'nothing'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, default=50)
    parser.add_argument("--keep", action="store_true", help="leave the pods to perflab down")
    given = parser.parse_args()
    settings = machine.settings()
    up()
    try:
        lab = state.read_lab(places.home(), NAME)
        assert lab is not None
        asyncio.run(measure(lab, given.pods, keep=given.keep))
        spaces = machine.spaces(lab)
        print(f"of the node, before perflab down: {present(lab, spaces)}")
    finally:
        down()
    report_rest(lab, spaces, settings)


if __name__ == "__main__":
    main()
