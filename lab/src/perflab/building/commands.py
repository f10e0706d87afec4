"""Programs that a build runs, and pip above all: what they say when they fail is what the user reads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from perflab.errors import ClusterError

_LAST_LINES = 15


def run(argv: list[str], environment: Mapping[str, str] | None = None) -> str:
    """What a program says.

    Raises ClusterError with the end of that when it fails.
    """
    done = subprocess.run(  # noqa: S603
        argv,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        text = "\n  ".join(done.stdout.strip().splitlines()[-_LAST_LINES:]) or "(no output)"
        raise ClusterError(
            f"`{' '.join(argv)}` failed with code {done.returncode}:\n  {text}\nNothing half-built was left; run again."
        )
    return done.stdout


def pip(command: str, *words: str) -> None:
    """Run a command of this Python's pip; raises as `run`."""
    run([sys.executable, "-m", "pip", command, "--quiet", "--disable-pip-version-check", *words])


def pinned(requirements: Path) -> dict[str, str]:
    """Package → version of a file of requirements."""
    lines = (line.split()[0] for line in requirements.read_text(encoding="utf-8").splitlines() if line[:1] != "#")
    return {name: version for name, _is, version in (each.partition("==") for each in lines)}
