"""A recording of the group container_bench."""

from __future__ import annotations

from typing import Any


def container_benchmark(runs: int) -> dict[str, Any]:
    """Write a recording of *runs* runs of iperf3 that took 1, 2, ... seconds, and one that failed."""
    engine = {"engine": "podman", "version": "5.4.0", "rootless": True, "storage_driver": "overlay", "runtime": "crun"}
    host = {"network": "netavark", "cgroups": "v2", "os": "linux", "arch": "amd64", "kernel": "6.1", "remote": False}
    used = {"user_s": 0.25, "system_s": 0.5, "max_rss_kib": 4096}
    done = [
        {"started": 1.7e9 + n, "took_s": n, "exit_code": 0, **used, "numbers": {"bits_per_second": 8e9}}
        for n in range(1, runs + 1)
    ]
    return {
        "schema": "psap.perf/container_benchmark/1",
        "benchmark": "iperf_net_host",
        "rootful": False,
        "asked_runs": runs + 1,
        "engine": {**engine, **host, "cpus": 2, "memory_bytes": 1 << 30},
        "overhead": {"program": "/usr/bin/true", "runs": 20, "median_s": 0.001, "max_s": 0.002},
        "clock": {"offset_s": 3600.0, "within_s": 0.2},
        "runs": [*done, {"started": 1.7e9, "took_s": 99.0, "exit_code": 125, **used, "numbers": {}}],
    }
