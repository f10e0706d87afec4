"""Measures the network between the pods of a Ray cluster with iperf3 or by moving objects, configured by `config.json`.

It runs on the head node in Ray's image, with Python 3.9, Ray and NumPy.
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

CONFIGURATION = Path("/mnt/config/config.json")
PORT = 5201
MIB = 2**20


def main() -> None:
    """Run the configured test."""
    import ray

    settings = json.loads(CONFIGURATION.read_text(encoding="utf-8"))
    ray.init(address="auto")
    nodes = sorted(node["NodeID"] for node in ray.nodes() if node["Alive"])
    if len(nodes) < 2:
        raise SystemExit("the network between pods needs two of them: pod_count is 1")
    {"iperf": iperf, "network_overhead": overhead}[settings["test"]](ray, nodes, settings)


def on(ray, node: str):
    """Return the scheduling strategy of an actor or a task that must run on *node*."""
    return ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node_id=node, soft=False)


def iperf(ray, nodes: list, settings: dict) -> None:
    """Run a server in one pod and a client in another, repeatedly; the client prints its report."""
    serve = ray.remote(num_cpus=0)(serve_once)
    measure = ray.remote(num_cpus=0)(run_client)
    address = ray.get(ray.remote(num_cpus=0)(address_of).options(scheduling_strategy=on(ray, nodes[0])).remote())
    for _repetition in range(settings["repetitions"]):
        server = serve.options(scheduling_strategy=on(ray, nodes[0])).remote()
        ray.get(measure.options(scheduling_strategy=on(ray, nodes[1])).remote(client_words(address, settings)))
        ray.get(server)


def address_of() -> str:
    """Return the address at which other pods of the cluster reach this pod."""
    import ray

    return ray.util.get_node_ip_address()


def serve_once() -> None:
    """Serve one client."""
    subprocess.run(["iperf3", "--server", "--one-off", "--port", str(PORT)], check=True, stdout=subprocess.DEVNULL)


def client_words(address: str, settings: dict) -> list:
    """Return the client's command line."""
    words = ["iperf3", "--client", address, "--port", str(PORT), "--connect-timeout", "30000"]
    return [*words, "--time", str(settings["duration_s"]), "--parallel", str(settings["streams"])]


def run_client(words: list) -> None:
    """Run the client, and repeat it until the server listens."""
    for attempt in range(10):
        if subprocess.run(words, check=False).returncode == 0:
            return
        time.sleep(attempt)
    raise RuntimeError("iperf3 did not reach its server")


def overhead(ray, nodes: list, settings: dict) -> None:
    """Move objects from the head node to every other pod and print the time; fail if it is above the limit."""
    import numpy

    measured = ray.remote(num_cpus=0)(len)
    size = settings["object_size_mb"] * MIB
    begun = time.monotonic()
    for _repetition in range(settings["objects"]):
        moved = ray.put(numpy.ones(size, dtype=numpy.uint8))
        ray.get([measured.options(scheduling_strategy=on(ray, node)).remote(moved) for node in nodes[1:]])
    took_s = time.monotonic() - begun
    print(report(took_s, settings["limit_s"]), flush=True)
    if took_s > settings["limit_s"]:
        raise SystemExit(1)


def report(took_s: float, limit_s: float) -> str:
    """Return the time and the verdict, in the form that the analysis reads."""
    verdict, sign = ("PASSED", "<=") if took_s <= limit_s else ("FAILED", ">")
    return (
        f"The network overhead test took {took_s:.2f} seconds\n"
        f"--- {verdict}: NETWORK OVERHEAD ::: {took_s:.2f} {sign} {limit_s:.2f} ---"
    )


if __name__ == "__main__":
    main()
