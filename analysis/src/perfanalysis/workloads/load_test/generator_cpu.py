"""Whether the load generator itself limited the load: the CPU of its busiest process during the requests."""

from __future__ import annotations

import numpy as np

from perfanalysis.files.documents import Document, finite_number, listing, mapping

BOTTLENECK_CORES = 0.9
"""A process that uses more of one core in half of the samples is a bottleneck."""


def bottleneck(document: Document, period: tuple[float, float] | None) -> str:
    """Return a sentence if the generator was a bottleneck within a period; empty if not, or if it is unknown."""
    given = mapping(document.get("generator_cpu"))
    times, busiest = (
        np.array([number for one in listing(given.get(name)) if (number := finite_number(one)) is not None])
        for name in ("times_s", "busiest_process_cores")
    )
    if period is None or len(times) != len(busiest):
        return ""
    during = busiest[(times >= period[0]) & (times <= period[1])]
    used = float(np.median(during)) if len(during) else 0.0
    if used < BOTTLENECK_CORES:
        return ""
    return (
        f"a process of the load generator used {used:.2f} cores during the load (median), so the generator may have "
        "limited the load; its latencies and throughput are not those of the server"
    )
