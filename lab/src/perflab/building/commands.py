"""Run the programs of a build, mainly pip; the user reads their output if they fail."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from perflab.errors import ClusterError

_LAST_LINES = 15


def run(argv: list[str], environment: Mapping[str, str] | None = None) -> str:
    """Return the output of a program.

    Raises ClusterError with the end of the output if it fails.
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
            f"`{' '.join(argv)}` failed with code {done.returncode}:\n  {text}\nNo partial build was kept; run again."
        )
    return done.stdout


def pip(command: str, *words: str) -> None:
    """Run a command of this Python's pip; raises as `run`."""
    run([sys.executable, "-m", "pip", command, "--quiet", "--disable-pip-version-check", *words])


def pinned(requirements: Path) -> dict[str, str]:
    """Return package → version of a requirements file."""
    lines = (line.split()[0] for line in requirements.read_text(encoding="utf-8").splitlines() if line[:1] != "#")
    return {name: version for name, _is, version in (each.partition("==") for each in lines)}
