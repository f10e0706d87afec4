"""The logs of Ray's network benchmarks: iperf between two pods, and the overhead of moving objects."""

from __future__ import annotations

from collections.abc import Iterator

from perflab.kubelet.trainer_logs.line import LogLine
from perflab.kubelet.training import Benchmark

_WORKER = "\x1b[36m(serve pid=1711, ip=10.128.0.2)\x1b[0m"


def lines(benchmark: Benchmark) -> Iterator[LogLine]:
    """Yield all lines, in the order of time."""
    yield LogLine(0.5, "INFO worker.py -- Connecting to existing Ray cluster")
    one_run = _iperf if benchmark.format == "iperf" else _overhead
    for run in range(benchmark.runs):
        ends_s = benchmark.start_s + (run + 1) * benchmark.run_s
        for text in one_run(benchmark, run):
            yield LogLine(ends_s, text)


def _iperf(benchmark: Benchmark, run: int) -> Iterator[str]:
    whole, seconds = benchmark.rate(run), benchmark.run_s
    yield f"{_WORKER} Connecting to host 10.128.0.3, port 5201"
    for role in ("sender", "receiver"):
        for stream in range(benchmark.streams):
            yield f"{_WORKER} {_row(f'{5 + 2 * stream:3d}', seconds, whole / benchmark.streams, role)}"
        if benchmark.streams > 1:
            yield f"{_WORKER} {_row('SUM', seconds, whole, role)}"
    yield f"{_WORKER} iperf Done."


def _row(name: str, seconds: float, rate: float, role: str) -> str:
    moved = rate * seconds / 8 / 2**30
    return f"[{name}]   0.00-{seconds:.2f}  sec  {moved:.2f} GBytes  {rate / 1e9:.3f} Gbits/sec    0    {role}"


def _overhead(benchmark: Benchmark, run: int) -> Iterator[str]:
    took = benchmark.time_s(run)
    verdict, sign = ("PASSED", "<=") if took <= benchmark.limit_s else ("FAILED", ">")
    yield f"The network overhead test took {took:.2f} seconds"
    yield f"--- {verdict}: NETWORK OVERHEAD ::: {took:.2f} {sign} {benchmark.limit_s:.2f} ---"
