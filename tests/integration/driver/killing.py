"""Find, kill and await processes of runs, and check that their files are readable."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.polling import PATIENCE_S


def processes(runs: Path, program: str = "") -> Iterator[int]:
    """Return the IDs of live processes of the runs in a folder, if *program* is in their command."""
    mark = f"PERF_RUNS_DIR={runs}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        # the command line of a zombie is empty
        if command and mark in environment and program in command:
            yield int(entry.name)


def kill_all(runs: Path) -> None:
    """Kill -9 every process of the runs in a folder, including processes started meanwhile."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := list(processes(runs))) and time.monotonic() < deadline:
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def wait_until_all_have_ended(runs: Path, program: str = "") -> None:
    """Wait until all processes, or all whose command contains *program*, have ended."""
    deadline = time.monotonic() + PATIENCE_S
    while (left := list(processes(runs, program))) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left


def check_undamaged(runs: Path) -> None:
    """Check that every document is readable, although its writer was killed."""
    for path in runs.rglob("*"):
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix in (".yml", ".yaml") and "src" not in path.parts:
            list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
