"""Names of KPIs from the names of orion's columns."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Z]+\d*(?![a-z])|[A-Z]?[a-z]+\d*|\d+[a-z]*")


def kpi_name(column: str) -> str:
    """`podReadyLatency_P99` is `pod_ready_latency_p99`, `apiserverCPU_avg` is `apiserver_cpu_avg`.

    The same column always has the same name, whatever others there are. Empty when it has no letter and no digit.
    """
    name = "_".join(word.lower() for word in _WORDS.findall(column))
    return f"m_{name}" if name[:1].isdigit() else name
