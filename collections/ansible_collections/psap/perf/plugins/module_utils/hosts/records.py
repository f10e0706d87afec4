"""Records of work on hosts: written to the command's directory before it begins, removed when all is undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import command_files, read_json, write_json

_FILE = "host-work.json"


@dataclass(frozen=True, slots=True)
class HostWork:
    """Work in *directory* of *host*, with or without *become*; the programs *left* print remaining objects."""

    host: str
    become: bool
    directory: str
    environment: Mapping[str, str]
    left: Sequence[Sequence[str]]


def begin(command: Path, work: HostWork) -> None:
    """Record it in the directory of a command, before the host is contacted."""
    write_json(command / _FILE, {"schema": "psap.perf/host-work/1", **asdict(work)})


def end(command: Path) -> None:
    """Remove the record."""
    (command / _FILE).unlink(missing_ok=True)


def unfinished(run: Path, host: str, become: bool) -> list[tuple[Path, HostWork]]:
    """Return the recorded work of commands of *run* on *host*, with the commands' directories."""
    found = []
    for path in command_files(run, _FILE):
        work = _work(read_json(path))
        if (work.host, work.become) == (host, become):
            found.append((path.parent, work))
    return found


def _work(document: Mapping[str, Any]) -> HostWork:
    return HostWork(
        host=str(document["host"]),
        become=bool(document["become"]),
        directory=str(document["directory"]),
        environment=dict(document["environment"]),
        left=list(document["left"]),
    )
