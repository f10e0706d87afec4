"""A run directory, read into a tree of steps.

The tree is the same for the live view of this driver's run and for `perfdrv runs show` of a run of plain
ansible-playbook.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError

_NUMBERED = re.compile(r"(\d{3,})__(.+)")
_NESTS = re.compile(r"(lane|cell)__(.+)")
_ENDED = frozenset({"ok", "failed", "interrupted", "skipped"})


@dataclass(frozen=True, slots=True)
class Waiting:
    """The condition that a command waits for, since when (ISO), for how long at most, and the last observed state."""

    what: str
    since: str | None
    timeout_seconds: float | None
    last: str


@dataclass(frozen=True, slots=True)
class Step:
    """A numbered directory of a run.

    Attributes:
        kind: `command`, `group`, `lane` or `cell`.
        name: Without the number: `scale_test submit`, `gpu` for a lane, `0` for a cell.
        status: `running`, `ok`, `failed`, `interrupted`; empty for a group or a lane.
        values: Of a cell: setting → value.
        label: Of a cell: the settings that distinguish it from the others.
    """

    directory: Path
    number: int
    kind: str
    name: str
    status: str = ""
    started: str | None = None
    ended: str | None = None
    error: str = ""
    host: str = ""
    values: Mapping[str, Any] | None = None
    label: str = ""
    waiting: Waiting | None = None
    progress: Mapping[str, Any] | None = None
    children: tuple[Step, ...] = ()

    def walk(self) -> Iterator[Step]:
        """Yield this step and all steps below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


def abandoned(step: Step) -> Step:
    """Return a step of a run that no process holds: all that is `running` in it becomes `interrupted`."""
    status = "interrupted" if step.status == "running" else step.status
    return replace(step, status=status, waiting=None, children=tuple(map(abandoned, step.children)))


class RunTree:
    """Reads a run directory repeatedly; documents of ended steps are read once."""

    def __init__(self, run_directory: Path) -> None:
        self.run_directory = run_directory
        self._documents: dict[Path, Mapping[str, Any]] = {}

    def steps(self) -> tuple[Step, ...]:
        """Return the steps at the top of the run, by number."""
        return self._children(self.run_directory)

    def walk(self) -> Iterator[Step]:
        """Yield all steps, parents first."""
        for step in self.steps():
            yield from step.walk()

    def _children(self, folder: Path) -> tuple[Step, ...]:
        numbered = []
        for path in _folders(folder):
            match = _NUMBERED.fullmatch(path.name)
            if match:
                numbered.append((int(match[1]), match[2], path))
        return tuple(self._step(number, name, path) for number, name, path in sorted(numbered))

    def _step(self, number: int, name: str, path: Path) -> Step:
        nest = _NESTS.fullmatch(name)
        if nest and nest[1] == "cell":
            return self._cell(number, nest[2], path)
        words = name.replace("__", " ")
        status = self._document(path / "status.json")
        if nest or not status:
            kind = "lane" if nest else "group"
            return Step(path, number, kind, nest[2] if nest else words, children=self._children(path))
        running = status.get("status") == "running"
        return Step(
            directory=path,
            number=number,
            kind="command",
            name=words,
            status=str(status.get("status", "")),
            started=status.get("started"),
            ended=status.get("ended"),
            error=_text(status.get("error")),
            host=_text(status.get("host")),
            waiting=_waiting(path / "waiting.json") if running else None,
            progress=read_document(path / "artifacts" / "progress.json") or None,
            children=self._children(path),
        )

    def _cell(self, number: int, name: str, path: Path) -> Step:
        # a cell that was a separate process has a run.json as well as a cell.json
        document = self._document(path / "cell.json") or self._document(path / "run.json")
        return Step(
            directory=path,
            number=number,
            kind="cell",
            name=name,
            status=str(document.get("status", "")),
            started=document.get("started"),
            ended=document.get("ended"),
            error=_text(document.get("error")),
            values=document.get("values"),
            label=_text(document.get("name")),
            children=self._children(path),
        )

    def _document(self, path: Path) -> Mapping[str, Any]:
        if path not in self._documents:
            document = read_document(path)
            if _text(document.get("status")) not in _ENDED:
                return document
            self._documents[path] = document
        return self._documents[path]


def read_document(path: Path) -> Mapping[str, Any]:
    """Return the JSON object in a file; empty if the file is missing or contains anything else."""
    try:
        return read_json(path)
    except PerfError:
        return {}


def _waiting(path: Path) -> Waiting | None:
    document = read_document(path)
    if not document:
        return None
    timeout = document.get("timeout_s")
    return Waiting(
        what=_text(document.get("what")),
        since=document.get("since"),
        timeout_seconds=float(timeout) if isinstance(timeout, int | float) else None,
        last=_text(document.get("last")),
    )


def _folders(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except FileNotFoundError:
        return []


def _text(value: Any) -> str:
    return "" if value is None else str(value)
