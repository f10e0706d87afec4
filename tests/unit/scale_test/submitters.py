"""Helpers of tests that kill or stop submitting processes."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from .fake_api import FakeApi
from .sessions import JOBS, Deed, Scene, eventually


def pids(folder: Path) -> list[int]:
    """Return the process IDs of the submitters that are ready."""
    return [json.loads(path.read_text())["pid"] for path in sorted(folder.glob("submitters/*/ready.json"))]


def is_alive(pid: int) -> bool:
    """Return whether the process runs; a zombie does not."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def once_created(scene: Scene, made: int, deed: Deed) -> Deed:
    """Call a function when a number of workloads exists, and let all complete."""

    async def meanwhile(api: FakeApi) -> None:
        api.complete_jobs = True
        await eventually(lambda: len(api.objects.get(JOBS, {})) >= made)
        await deed(api)

    return meanwhile


def send(folder: Path, number: int, what: signal.Signals) -> Deed:
    """Send a signal to a submitter."""

    async def deed(_api: FakeApi) -> None:
        os.kill(pids(folder)[number], what)

    return deed
