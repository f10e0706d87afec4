"""Writes the power of a host's processors, a line of JSON for each interval: ``rapl.py SECONDS FOLDER``.

FOLDER contains the energy counters of the processors' packages; on Linux ``/sys/class/powercap``, readable by root.
Needs only Python 3.9.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def packages(folder: Path) -> list[Path]:
    """Return the packages of the processors; a name with a second number is a part of a package."""
    return sorted(path for path in folder.glob("intel-rapl:*") if path.name.count(":") == 1)


def energy_uj(package: Path) -> int:
    """Return the energy counter of *package* in microjoules."""
    return int((package / "energy_uj").read_text(encoding="ascii"))


def spent_uj(package: Path, before: int, after: int) -> int:
    """Return the energy between two reads; the counter wraps around at most once between them."""
    if after >= before:
        return after - before
    return after - before + int((package / "max_energy_range_uj").read_text(encoding="ascii"))


def main(interval_s: float, folder: Path) -> None:
    """Write samples until killed; the power is the average since the last sample."""
    found = packages(folder)
    if not found:
        sys.exit(f"{folder} has no energy counters of processors")
    before, begun = {package: energy_uj(package) for package in found}, time.monotonic()
    while True:
        time.sleep(interval_s)
        after, ended = {package: energy_uj(package) for package in found}, time.monotonic()
        spent = sum(spent_uj(package, before[package], after[package]) for package in found)
        elapsed_s = ended - begun
        sample = {"at_s": time.time(), "elapsed_s": elapsed_s, "watts": spent / 1e6 / elapsed_s}
        print(json.dumps(sample), flush=True)
        before, begun = after, ended


if __name__ == "__main__":
    main(float(sys.argv[1]), Path(sys.argv[2]))
