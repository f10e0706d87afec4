"""The error report: which task failed first, its message, the end of its log, and captured files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perfanalysis.drawing.blocks import Block, Failure, Link, Log, Note, Section, data_size
from perfanalysis.drawing.charts import Figure
from perfanalysis.drawing.wording import shortened
from perfanalysis.files.bounded import content, opened
from perfanalysis.files.discovery import Command, Run
from perfanalysis.files.documents import load_json, mapping

GOOD = ("ok", "running", "unknown")
FAILURES_FILE, LOG_FILE = "failures.jsonl", "ansible.log"
MOST_SHOWN = 8
"""Failures shown in full; of further ones, only the number is shown."""
MOST_LINES, MOST_LETTERS, MOST_LOGS, MOST_LINKS = 30, 300, 2, 40
TAIL_BYTES = 40_000
"""Bytes read from the end of a log."""
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
"""Terminal colours, and characters that a page cannot show."""


@dataclass(frozen=True)
class _Failed:
    """A failed task as recorded; texts are empty if unknown."""

    what: str
    where: str
    why: str
    directory: str
    interrupted: bool
    finalizing: bool


def error_section(run: Run, timeline: Figure | None) -> Section | None:
    """Return the error report; None if no task failed and the run was not interrupted."""
    found = tuple(_found(run))
    if not found and run.status in GOOD:
        return None
    shown = tuple(_failure_block(run, failed, place) for place, failed in enumerate(found[:MOST_SHOWN]))
    if not shown:
        shown = (_without_cause(run),)
    blocks: tuple[Block, ...] = (shown[0], *((timeline,) if timeline is not None else ()), *shown[1:])
    if len(found) > MOST_SHOWN:
        blocks += (
            Note(f"{len(found) - MOST_SHOWN} more tasks failed: {FAILURES_FILE} in the run directory lists all."),
        )
    return Section("errors", "What failed", _sentence(run, found), blocks)


def _sentence(run: Run, found: tuple[_Failed, ...]) -> str:
    failed = sum(command.status == "failed" for command in run.commands)
    parts = [f"The run is {run.status}."]
    if failed:
        parts.append(f"{failed} of {len(run.commands)} commands failed.")
    if len(found) > 1:
        parts.append("The first failure is listed first; later failures may be its consequences.")
    return " ".join(parts)


def _found(run: Run) -> Iterator[_Failed]:
    """Return every failure once, in order of time: recorded tasks, then commands without such a record."""
    covered: set[str] = set()
    for failed in _recorded(run):
        covered.add(_place(run, failed))
        yield failed
    reason = mapping(run.document.get("reason"))
    if reason and not covered:
        failed = _of_record(reason)
        covered.add(_place(run, failed))
        command = next((one for one in run.commands if one.directory == _place(run, failed)), None)
        yield failed if failed.why or command is None else replace(failed, why=_of_command(command).why)
    for command in run.commands:
        inside = any(directory.startswith(f"{command.directory}/") for directory in covered)
        if (command.failure or command.status == "failed") and command.directory not in covered and not inside:
            yield _of_command(command)


def _place(run: Run, failed: _Failed) -> str:
    """Return its directory in the form of commands: flows record the absolute path, of the original location of the
    run.
    """
    return _inside(run, failed.directory) or failed.directory


def _recorded(run: Run) -> list[_Failed]:
    """Return the failed tasks of the last attempt; tasks that were asked to stop come after tasks that failed
    themselves.
    """
    try:
        lines = content(run.directory / FAILURES_FILE).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    records = [record for record in (_parsed(line) for line in lines) if record]
    last = max((record["attempt"] for record in records if isinstance(record.get("attempt"), int)), default=None)
    found = [_of_record(record) for record in records if last is None or record.get("attempt") == last]
    known = [failed for failed in dict.fromkeys(found) if not _repeats(failed, found[:1])]
    return sorted(known, key=lambda failed: failed.interrupted)


def _repeats(failed: _Failed, first: list[_Failed]) -> bool:
    """Return whether it only repeats the run's result, as the last task of a flow does with the first failure."""
    return not failed.directory and any(one != failed and one.what and failed.why.startswith(one.what) for one in first)


def _parsed(line: str) -> dict[str, Any]:
    """Parse a line as a mapping; empty for a truncated line."""
    try:
        return mapping(load_json(line.encode()))
    except ValueError:
        return {}


def _of_record(record: dict[str, Any]) -> _Failed:
    def text(name: str) -> str:
        value = record.get(name)
        return value if isinstance(value, str) else ""

    interrupted = record.get("kind") == "Interrupted"
    return _Failed(
        text("what"), text("where"), text("why"), text("directory"), interrupted, record.get("finalizing") is True
    )


def _of_command(command: Command) -> _Failed:
    """Return the failure by its file FAILURE (what, where, an empty line, why), else by its status."""
    lines = (command.failure or "").strip().splitlines()
    what, where = (lines[0], lines[1]) if len(lines) > 1 else (command.role, "")
    why = "\n".join(lines[2:]).strip() if len(lines) > 1 else "\n".join(lines)
    return _Failed(what, where, why or command.error or "no reason was recorded", command.directory, False, False)


def _without_cause(run: Run) -> Failure:
    why = "No failed task was recorded: the run was killed, or its files are incomplete."
    return Failure(run.id, run.status, f"the run is {run.status}", "", why, None, _logs(run, None, ""))


def _failure_block(run: Run, failed: _Failed, place: int) -> Failure:
    relative = _inside(run, failed.directory)
    folder = None if relative is None else run.directory / relative
    command = next((one for one in run.commands if one.directory == relative), None)
    word = "interrupted" if failed.interrupted else "while cleaning up" if failed.finalizing else "failed"
    return Failure(
        title=command.role if command else failed.what or run.id,
        word="failed first" if place == 0 and not failed.interrupted else word,
        what=failed.what,
        where=_shortened(run, failed.where),
        why=CONTROL.sub("", _shortened(run, failed.why)),
        directory=Link(relative) if relative else None,
        logs=_logs(run, folder, failed.why, failed.what),
        captured=tuple(_captured(run, folder)) if folder is not None else (),
    )


def _inside(run: Run, directory: str) -> str | None:
    """Return a recorded directory as a path in the run, wherever the run was when it failed; None if it is missing."""
    parts = Path(directory).parts
    tails = (Path(*parts[place:]) for place in range(len(parts)))
    found = next((tail for tail in tails if not tail.is_absolute() and (run.directory / tail).is_dir()), None)
    return None if found is None or ".." in found.parts else found.as_posix()


def _shortened(run: Run, text: str) -> str:
    """Return paths of the run without the directory that contained it."""
    return re.sub(rf"[^\s'\"(]*/(?:{re.escape(run.id)}|{re.escape(run.directory.name)})/", "", text)


def _logs(run: Run, folder: Path | None, why: str, what: str = "") -> tuple[Log, ...]:
    """Return the ends of the command's logs, those named in the message first; else of Ansible's output."""
    if folder is not None:
        own = sorted(path for path in folder.rglob("*.log") if path.is_file() and path.stat().st_size)
        own.sort(key=lambda path: (path.name not in why, -path.stat().st_size))
        if own:
            return tuple(_log(run, path) for path in own[:MOST_LOGS])
    ansible_log = run.directory / LOG_FILE
    return (_log(run, ansible_log, what),) if ansible_log.is_file() else ()


def _log(run: Run, path: Path, what: str = "") -> Log:
    lines = _tail(path)
    task = what.split(":")[-1].strip()
    # Ansible's output of the task itself, if the end of its log belongs to other tasks
    heading = re.compile(rf"TASK \[(?:[^\]]* : )?{re.escape(task)}\]")
    begins = [place for place, line in enumerate(lines) if task and heading.search(line)]
    kept = lines[begins[-1] :][:MOST_LINES] if begins else lines[-MOST_LINES:]
    relative = path.relative_to(run.directory).as_posix()
    return Log(Link(relative, detail=data_size(path.stat().st_size)), tuple(kept))


def _tail(path: Path) -> list[str]:
    with opened(path) as stream:
        size = stream.seek(0, 2)
        stream.seek(max(size - TAIL_BYTES, 0))
        text = stream.read().decode("utf-8", errors="replace")
    lines = [CONTROL.sub("", line.rstrip()) for line in text.splitlines()[1 if size > TAIL_BYTES else 0 :]]
    return [shortened(line, MOST_LETTERS) for line in lines]


def _captured(run: Run, folder: Path) -> Iterable[Link]:
    """Return the files of the command, captured ones first; directories of nested commands are excluded."""
    files = sorted(
        (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")),
        key=lambda path: ("artifacts" not in path.parts, path.relative_to(folder).as_posix()),
    )
    for path in files[:MOST_LINKS]:
        name = path.relative_to(folder).as_posix()
        yield Link(path.relative_to(run.directory).as_posix(), name, data_size(path.stat().st_size))
    if len(files) > MOST_LINKS:
        relative = folder.relative_to(run.directory).as_posix()
        yield Link(relative, f"{len(files) - MOST_LINKS} more files")
