"""A recording of the command crc_capture_boot_timing: the texts of tests/data/boot_timing, of no real boot."""

from __future__ import annotations

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


def outside(ssh_s: float = 21.25) -> dict[str, Any]:
    """Return the controller's observations: it could log in after *ssh_s* seconds."""
    return {
        "started": 1.7e9,
        "ping": {"after_s": 12.5, "within_s": 1.125},
        "ssh": {"after_s": ssh_s, "within_s": 0.25},
        "kernel": 1.7e9 + 2.0,
        "kernel_within_s": 0.5,
    }
