"""Numbered directories below a run: one for each group and each command."""

from __future__ import annotations

import contextlib
import fcntl
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import command_directory_name, path_part
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment

GROUP_FILE = "group.json"
GROUP_SCHEMA = "psap.perf/group/1"
NUMBER_LOCK_FILE = ".number"
_NUMBERED = re.compile(r"(\d{3,})__(.+)")


def number_and_name(directory: Path) -> tuple[int, str] | None:
    """Return ``(5, "nfd__has_labels")`` for ``005__nfd__has_labels``; None for any other name."""
    match = _NUMBERED.fullmatch(directory.name)
    return (int(match[1]), match[2]) if match else None


def numbered_children(parent: Path) -> list[Path]:
    """Return the numbered directories of *parent*, in the order of their numbers."""
    found = [(entry[0], path) for path in parent.iterdir() if (entry := number_and_name(path)) and path.is_dir()]
    return [path for _number, path in sorted(found)]


def open_command(run: Path, parent: Path | None, groups: Sequence[str], role: str, attempt: int) -> Path:
    """Make the directory of a command, with ``src`` and ``artifacts``.

    Args:
        parent: The directory of the command that includes this one, if any.
        groups: Names of the groups between the parent (or the run) and the command, outermost first.
        attempt: Number of the attempt; groups of earlier attempts are not used again.
    """
    try:
        place = parent or run
        for group in groups:
            place = _group(place, path_part(group), attempt)
        directory = _numbered(place, command_directory_name(role))
        (directory / "src").mkdir()
        (directory / "artifacts").mkdir()
    except OSError as error:
        raise PerfError(f"cannot make a directory for {role} below {run}: {error.strerror}; free space") from error
    return directory


def open_group(parent: Path, group: str, attempt: int) -> Path:
    """Return the directory of a group in this attempt; create it if missing."""
    return _group(parent, path_part(group), attempt)


def open_cell(environment: RunEnvironment, index: int) -> Path:
    """Return the directory of a cell; if this process runs only the cell, the run directory."""
    if environment.cell == index:
        return environment.directory
    return open_group(environment.directory, f"cell__{index}", environment.attempt)


def _group(parent: Path, name: str, attempt: int) -> Path:
    with _numbering(parent):
        for path in reversed(numbered_children(parent)):
            if path.name.endswith(f"__{name}") and _attempt_of(path) == attempt:
                return path
        directory = _next(parent, name)
        write_json(
            directory / GROUP_FILE,
            {"schema": GROUP_SCHEMA, "name": name, "attempt": attempt, "started": utc_now()},
        )
        return directory


def _attempt_of(group: Path) -> int | None:
    path = group / GROUP_FILE
    return read_json(path).get("attempt") if path.exists() else None


def _numbered(parent: Path, name: str) -> Path:
    with _numbering(parent):
        return _next(parent, name)


def _next(parent: Path, name: str) -> Path:
    taken = numbered_children(parent)
    last = number_and_name(taken[-1]) if taken else None
    directory = parent / f"{(last[0] if last else 0) + 1:03d}__{name}"
    directory.mkdir()
    return directory


@contextlib.contextmanager
def _numbering(parent: Path) -> Iterator[None]:
    """Let only one process assign numbers in *parent*; the record lock ends with a killed process."""
    with (parent / NUMBER_LOCK_FILE).open("a") as stream:
        fcntl.lockf(stream, fcntl.LOCK_EX)
        yield
