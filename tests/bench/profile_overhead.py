"""What a CPU profile costs the API server: its CPU time per request, with and without one, in alternating rounds.

python -m tests.bench.profile_overhead [--rounds 6] [--requests 600]

It needs a lab: KUBECONFIG names its kubeconfig. Each request lists the nodes; the CPU time is the server's own metric.
"""

from __future__ import annotations

import argparse
import re
import statistics
import threading
import time

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.profiling.server import ApiServer

CPU = re.compile(rb"^process_cpu_seconds_total (\S+)", re.MULTILINE)


def cpu_seconds(server: ApiServer) -> float:
    """Return the CPU time of the API server."""
    found = CPU.search(server.raw("/metrics", 60)[1])
    assert found
    return float(found[1])


def cost(server: ApiServer, requests: int) -> tuple[float, float]:
    """Return milliseconds of CPU, and of time, of a request."""
    before, began = cpu_seconds(server), time.perf_counter()
    for _ in range(requests):
        status, _body = server.raw("/api/v1/nodes?limit=50", 60)
        assert status == 200
    ended = time.perf_counter()
    return 1e3 * (cpu_seconds(server) - before) / requests, 1e3 * (ended - began) / requests


def main() -> None:
    """Alternate rounds without and with a profile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--requests", type=int, default=600)
    asked = parser.parse_args()
    access = Access.from_variables({})
    server = ApiServer(access)
    cost(server, asked.requests)
    found: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for number in range(2 * asked.rounds):
        if number % 2 == 0:
            found[False].append(cost(server, asked.requests))
            continue
        # as long as the round before
        seconds = max(1, round(found[False][-1][1] * asked.requests / 1e3))
        path = f"/debug/pprof/profile?seconds={seconds}"
        profile = threading.Thread(target=lambda path=path: ApiServer(access).raw(path, 300))
        profile.start()
        time.sleep(0.2)
        found[True].append(cost(server, asked.requests))
        profile.join()
    for with_profile, costs in found.items():
        cpu, took = (statistics.median(each[place] for each in costs) for place in (0, 1))
        low, high = min(each[0] for each in costs), max(each[0] for each in costs)
        name = "with a CPU profile" if with_profile else "without"
        print(f"{name:20} {cpu:.3f} ms of CPU per request ({low:.3f} to {high:.3f}), {took:.2f} ms of time")


if __name__ == "__main__":
    main()
