"""A small disk for tests that fill it, because without it they would fill the machine's."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

KIB = 1 << 10


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Mount a disk, as root or by sudo. If this is not permitted, the test is skipped, and fails in CI."""
    root = ["sudo", "--non-interactive"] if os.geteuid() != 0 and shutil.which("sudo") else []
    options = f"size={size},uid={os.geteuid()},gid={os.getegid()}"
    command = [*root, "mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        unavailable = pytest.fail if "CI" in os.environ else pytest.skip
        unavailable("cannot mount a disk to fill, as root or by sudo: " + mounted.stderr.splitlines()[0])
    try:
        yield
    finally:
        subprocess.run([*root, "umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> None:
    """Fill the disk completely."""
    with (disk / "ballast").open("ab", buffering=0) as stream:
        for size in (64 * KIB, KIB):
            try:
                while stream.write(bytes(size)) == size:
                    pass
            except OSError:
                continue
