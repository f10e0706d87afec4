"""Read the files of the command crc_capture_boot_timing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.boot_timing import operators, outside, systemd

# starts that are shown over time
_LONG_S = 0.1
# the last states have no end
_SHOWN_AFTER_S = 10.0


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return the rows of units, critical chain, checkpoints and events seen from outside, and one for the boot."""
    (document,) = source.records("boot_timing.yml")
    phases, chain = systemd.phases(document["time"]), list(systemd.chain(document["critical_chain"]))
    for name, found in (("time", phases), ("critical_chain", chain)):
        if not found:
            source.find("error", "boot_timing.yml", f"{name} has no times: {document[name][:200]!r}")
    boot = {f"{name}_s": phases.get(name) for name in systemd.PHASES} | {"target": document["target"]}
    boot["reached_s"] = chain[0].active_after_s if chain else None
    boot["failed_units"] = len(document["failed"].splitlines())
    units = [{"unit": unit, "took_s": took} for unit, took in systemd.blamed(document["blame"])]
    at = dict(systemd.activated(document["checkpoints"]))
    rows: dict[str, Any] = {"units": units, "chain": [asdict(link) for link in chain], "boots": [boot], "outside": []}
    try:
        rows["outside"] = list(outside.events(document.get("outside"), at.get(document["target"])))
    except ValueError as error:
        source.find("error", "boot_timing.yml", str(error))
    rows["checkpoints"] = [{"unit": unit, "activated_s": seconds} for unit, seconds in at.items()]
    booted_s = operators.kernel_start(document.get("kernel_at") or "")
    if booted_s is None:
        return {**rows, "starts": [], "operators": [], "operator_states": []}
    starts = [_start(start, booted_s) for start in systemd.starts(document.get("units") or "")]
    return {**rows, "starts": starts, **_operators(document.get("operators") or "", booted_s)}


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
