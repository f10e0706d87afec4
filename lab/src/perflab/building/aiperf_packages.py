"""Fetches aiperf and the packages that it needs from PyPI into the user's cache, for an image of the lab."""

from __future__ import annotations

import hashlib
import platform
import sys
import time
from pathlib import Path

from perflab.building.commands import pinned, pip
from perflab.building.sets import Binaries, ensure_set, whole_set
from perflab.errors import PrintLine

REQUIREMENTS = Path(__file__).parent / "aiperf/requirements.txt"
_PACKAGES = "packages"


def lock_hash(machine: str = platform.machine()) -> str:
    """Return 12 hexadecimal digits that change with the pinned packages, the Python and the kind of machine."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return hashlib.sha256(f"{machine} {python}".encode() + REQUIREMENTS.read_bytes()).hexdigest()[:12]


def ensure_aiperf(cache: Path, print_line: PrintLine) -> Path:
    """Return the folder of the packages, fetching them first if needed (1.2 GB).

    Raises ClusterError if they cannot be fetched.
    """
    return ensure_set(cache / lock_hash(), print_line, _fetch).manifests(_PACKAGES)


def _fetch(folder: Path, print_line: PrintLine) -> Binaries:
    version = pinned(REQUIREMENTS)["aiperf"]
    print_line(f"fetching aiperf {version} with the packages that it needs, 1.2 GB")
    started = time.monotonic()
    with whole_set(folder, {"aiperf": version}, "PyPI") as partial:
        pip(
            *("install", "--no-deps", "--no-compile", "--only-binary", ":all:"),
            *("--requirement", str(REQUIREMENTS), "--target", str(partial / _PACKAGES)),
        )
    print_line(f"fetched aiperf in {time.monotonic() - started:.0f} s ({folder})")
    return Binaries(folder)
