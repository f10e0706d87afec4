"""A recording of the command crc_capture_boot_timing: the texts of tests/data/boot_timing, of no real boot."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TEXTS = Path(__file__).parent / "boot_timing"


def boot_timing() -> dict[str, str]:
    """Return the document boot_timing.yml."""
    files = {
        "time": "time.txt",
        "blame": "blame.txt",
        "critical_chain": "critical-chain.txt",
        "checkpoints": "show.txt",
    }
    texts = {name: (TEXTS / file).read_text(encoding="utf-8") for name, file in files.items()}
    failed = "ocp-mco.service loaded failed failed CRC Unit\n"
    return {"schema": "psap.perf/boot_timing/1", "target": "crc-custom.target", **texts, "failed": failed}


BOOTED_S = 1_700_000_000


def openshift() -> dict[str, str]:
    """Return the fields of the document about the start of units and ClusterOperators."""
    lines = []
    for line in (TEXTS / "operators.txt").read_text(encoding="utf-8").splitlines():
        name, *words = line.split()
        conditions = zip(words[::3], words[1::3], map(_time, words[2::3]), strict=True)
        lines.append(" ".join([name, *(f"{kind}={status}@{at}" for kind, status, at in conditions)]))
    units = (TEXTS / "units.txt").read_text(encoding="utf-8")
    return {"units": units, "kernel_at": f"btime {BOOTED_S}\n", "operators": "\n".join(lines)}


def _time(after_s: str) -> str:
    at = BOOTED_S - 86400 if after_s == "-" else BOOTED_S + int(after_s)
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def outside(ssh_s: float = 21.25) -> dict[str, Any]:
    """Return the controller's observations: it could log in after *ssh_s* seconds."""
    return {
        "started": 1.7e9,
        "ping": {"after_s": 12.5, "within_s": 1.125},
        "ssh": {"after_s": ssh_s, "within_s": 0.25},
        "kernel": 1.7e9 + 2.0,
        "kernel_within_s": 0.5,
    }
