"""Read the files of the command crc_capture_boot_timing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.boot_timing import initialization, outside, systemd


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
    rows = {"units": units, "chain": [asdict(link) for link in chain], "boots": [boot], "outside": []}
    try:
        rows["outside"] = list(outside.events(document.get("outside"), at.get(document["target"])))
    except ValueError as error:
        source.find("error", "boot_timing.yml", str(error))
    checkpoints = [{"unit": unit, "activated_s": seconds} for unit, seconds in at.items()]
    return {**rows, "checkpoints": checkpoints, **initialization.rows(document)}
