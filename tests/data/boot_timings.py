"""A recording of the command crc_capture_boot_timing: the texts of tests/data/boot_timing, which are no real boot."""

from __future__ import annotations

from pathlib import Path

TEXTS = Path(__file__).parent / "boot_timing"


def boot_timing() -> dict[str, str]:
    """The document boot_timing.yml."""
    files = {
        "time": "time.txt",
        "blame": "blame.txt",
        "critical_chain": "critical-chain.txt",
        "checkpoints": "show.txt",
    }
    said = {name: (TEXTS / file).read_text(encoding="utf-8") for name, file in files.items()}
    failed = "ocp-mco.service loaded failed failed CRC Unit\n"
    return {"schema": "psap.perf/boot_timing/1", "target": "crc-custom.target", **said, "failed": failed}
