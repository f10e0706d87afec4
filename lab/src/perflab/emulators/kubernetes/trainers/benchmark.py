"""The documented model of Ray's benchmarks: the rate of the networks between the pods."""

from __future__ import annotations

from perflab.emulators.kubernetes.trainers.job import Job
from perflab.emulators.kubernetes.trainers.model import network_of
from perflab.kubelet.training import Benchmark

# the share of a network's rate that a program gets
_SEEN = 0.92


def measure(job: Job, speed: float) -> Benchmark:
    """Return the benchmark that *job* runs."""
    carried = _SEEN * network_of(job)
    iperf = job.text("test", "iperf") == "iperf"
    moved = 2**20 * job.number("object_size_mb", 500) * job.number("objects", 100) * max(1, job.pods - 1)
    return Benchmark(
        format="iperf" if iperf else "network_overhead",
        seed=job.seed,
        speed=speed,
        assumptions=(),
        gpu_utilization=0.0,
        gpu_memory_bytes=0.0,
        start_s=15.0,
        runs=max(1, int(job.number("repetitions", 1))) if iperf else 1,
        streams=max(1, int(job.number("streams", 1))),
        run_s=job.number("duration_s", 10) if iperf else moved / carried,
        bits_per_second=8 * carried,
        limit_s=job.number("limit_s", 500),
    )
