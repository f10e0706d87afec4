"""The rows about the start of units and the states of ClusterOperators, with times in seconds since the epoch."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.documents import Document
from perfanalysis.workloads.boot_timing import operators, systemd

# starts that are shown over time
_LONG_S = 0.1
# the last states have no end
_SHOWN_AFTER_S = 10.0


def rows(document: Document) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of three tables; they are empty if the document does not state when the kernel started."""
    booted_s = operators.kernel_start(document.get("kernel_at") or "")
    if booted_s is None:
        return {"starts": [], "operators": [], "operator_states": []}
    starts = [_start(start, booted_s) for start in systemd.starts(document.get("units") or "")]
    return {"starts": starts, **_operators(document.get("operators") or "", booted_s)}


def _start(start: systemd.Start, booted_s: float) -> dict[str, Any]:
    kind = start.unit.rpartition(".")[2]
    times = {"begin_s": booted_s + start.begin_s, "end_s": booted_s + start.end_s}
    return {"unit": start.unit, "kind": kind, **times, "long": start.end_s - start.begin_s >= _LONG_S}


def _operators(text: str, booted_s: float) -> dict[str, list[dict[str, Any]]]:
    known = list(operators.conditions(text))
    end_s = max((one.since_s for _name, found in known for one in found.values()), default=booted_s) + _SHOWN_AFTER_S
    rows = []
    for name, found in known:
        row: dict[str, Any] = {"operator": name}
        for kind in (operators.AVAILABLE, operators.PROGRESSING, operators.DEGRADED):
            one = found.get(kind)
            after_s = one.since_s - booted_s if one and one.since_s >= booted_s else None
            row |= {kind.lower(): one.status if one else None, f"{kind.lower()}_since_s": after_s}
        rows.append(row)
    states = [
        {"operator": name, "state": state, "begin_s": begin, "end_s": end}
        for name, found in known
        for state, begin, end in operators.states(found, booted_s, end_s)
    ]
    return {"operators": rows, "operator_states": sorted(states, key=lambda row: float(row["begin_s"]))}
