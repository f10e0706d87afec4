"""Discover the contents of a run directory: documents, commands, cells and recordings, at any depth."""

from __future__ import annotations

import csv
import fcntl
import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perfanalysis.errors import UsageError
from perfanalysis.files.bounded import content, opened
from perfanalysis.files.documents import Document, listing, mapping, parse_time, read_document, text_or_none
from perfanalysis.files.findings import Finding

OF_A_RUN = ("run.json", "status.json", "cell.json")
"""A run, a command or a cell has one of these directly."""
LONGEST_FAILURE = 1 << 16
"""Bytes read of the message of a failure."""
NUMBERED = re.compile(r"\d{3,}__")
"""Prefixes of folders in a run, a lane or a cell; they identify a run whose run.json is missing."""
SKIPPED = {"report", "src"}
MONITORING = ("prometheus_queries.yml",)
"""Marks a directory with responses of Prometheus, which belong to a recording and are not one themselves."""
LOCK = "run.lock"
"""The process of the run holds its lock while it lives."""


@dataclass(frozen=True)
class Command:
    """One executed command; times are seconds since the epoch, None if unknown (still running, killed)."""

    directory: str
    role: str
    status: str
    host: str | None
    lane: str | None
    started_s: float | None
    ended_s: float | None
    error: str | None
    failure: str | None


@dataclass(frozen=True)
class Cell:
    """One combination of a test matrix."""

    directory: str
    index: int
    values: dict[str, Any]
    status: str
    attempt: int = 1
    """The run's attempt that tested it in this directory."""


@dataclass(frozen=True)
class Place:
    """A directory with recorded data: `marker` is the file that identifies it."""

    directory: Path
    relative: str
    marker: str
    cell: Cell | None
    part: str = ""
    """The selected workloads as a phrase for every plot; empty for all."""
    own_name: str = ""
    """The distinguishing name if another place of the run has the same name; else empty."""

    @property
    def name(self) -> str:
        """Return a name for folders and labels: the path below the run, without `artifacts`."""
        if self.own_name:
            return self.own_name
        parts = [part for part in self.relative.split("/") if part not in ("artifacts", ".")]
        return ".".join(parts) or "run"


@dataclass(frozen=True)
class Span:
    """A row of timeline.csv."""

    kind: str
    name: str
    lane: str | None
    status: str
    started_s: float | None
    ended_s: float | None


ABSENT = "absent"
LAB_WORDS = ("simulated", "emulated", "real", ABSENT)
"""The possible states of parts of a lab: the least real first, then what a real part does not have."""


@dataclass(frozen=True)
class Lab:
    """The simulated, emulated and real parts of a lab, and absent ones, by name; empty for any other cluster."""

    simulated: tuple[str, ...] = ()
    emulated: tuple[str, ...] = ()
    real: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Return the parts as pages and labels show them: `simulated: nodes, pods; emulated: volumes; real: control
        plane`.
        """
        return "; ".join(f"{word}: {', '.join(names)}" for word, names in self.document().items() if names)

    @property
    def phrases(self) -> tuple[str, ...]:
        """Return the line if it is not empty."""
        return tuple(filter(None, (self.line,)))

    def document(self) -> dict[str, list[str]]:
        """Return the value `lab` of documents, without `absent` if nothing is."""
        return {word: list(getattr(self, word)) for word in LAB_WORDS if word != ABSENT or self.absent}


@dataclass(frozen=True)
class Run:
    """The contents of a run directory. `document` is run.json, empty if missing; `status` is the current status."""

    directory: Path
    document: Document
    settings: Document
    status: str
    commands: tuple[Command, ...]
    cells: tuple[Cell, ...]
    places: tuple[Place, ...]
    monitoring: tuple[Place, ...]
    """Directories with the responses of Prometheus."""
    timeline: tuple[Span, ...]
    findings: tuple[Finding, ...]

    @property
    def id(self) -> str:
        """Return the run's id; the directory's name if run.json is missing."""
        return str(self.document.get("id") or self.directory.name)

    @property
    def lab(self) -> Lab:
        """Return the lab that run.json states."""
        return lab_of(self.document)


def lab_of(document: Mapping[str, Any]) -> Lab:
    """Return the lab that run.json, recording.json or a document of a history states."""
    parts = mapping(document.get("lab"))
    return Lab(**{word: tuple(str(item) for item in listing(parts.get(word))) for word in LAB_WORDS})


def lab_of_line(line: str) -> Lab:
    """Return the lab of a label that `Lab.line` wrote."""
    parts = dict(part.partition(": ")[::2] for part in line.split("; "))
    return Lab(**{word: tuple(name for name in parts.get(word, "").split(", ") if name) for word in LAB_WORDS})


def labs_together(labs: Iterable[Lab]) -> Lab:
    """Return the union of the parts of several labs."""
    every = tuple(labs)
    named = {word: dict.fromkeys(name for one in every for name in getattr(one, word)) for word in LAB_WORDS}
    return Lab(**{word: tuple(names) for word, names in named.items()})


def discover(directory: Path, markers: Iterable[str]) -> Run:
    """Read the documents of a run and locate every recording (a directory that contains one of `markers`).

    Missing or damaged files become findings. Raises UsageError as `check_run_directory` does, and if there is neither
    run.json nor any recording.
    """
    directory = directory.resolve()
    markers = tuple(markers)
    check_run_directory(directory, markers)
    document, findings = read_document(directory / "run.json", "run", "run.json")
    settings, more = read_document(directory / "settings.yml", "settings", "settings.yml")
    findings += more
    folders = list(_folders(directory))
    commands, more = _commands(directory, folders)
    findings += more
    cells, more = _cells(directory, folders)
    findings += more
    places = with_unique_names(_places(directory, folders, cells, markers))
    monitoring = with_unique_names(_places(directory, folders, cells, MONITORING))
    if document is None and not places and not monitoring:
        raise UsageError(f"{directory} contains neither run.json nor a recording; pass a run directory")
    status = _status(directory / LOCK, document or {})
    if status == "interrupted":
        commands = tuple(_stopped(command) for command in commands)
    timeline, more = _timeline(directory / "timeline.csv")
    findings += more
    return Run(
        directory, document or {}, settings or {}, status, commands, cells, places, monitoring, timeline, findings
    )


def check_run_directory(directory: Path, markers: Iterable[str]) -> None:
    """Reject a directory that is neither a run nor a part of one, so that unrelated files are not searched.

    A part is a command, a cell, a lane, or a recording's own directory. Raises UsageError.
    """
    try:
        found = {entry.name for entry in directory.iterdir()}
    except OSError as error:
        reason = "is not a directory" if not directory.is_dir() else f"cannot be read ({error})"
        raise UsageError(f"{directory} {reason}; pass a run directory (it contains run.json)") from error
    markers = (*markers, *MONITORING)
    recorded = found.intersection(markers) or any((directory / "artifacts" / marker).is_file() for marker in markers)
    if not (recorded or found.intersection(OF_A_RUN) or any(NUMBERED.match(name) for name in found)):
        text = "it contains neither run.json nor a recording nor a command of a run"
        raise UsageError(f"{directory} is not a run directory: {text}; pass the directory of one run")


def _folders(directory: Path) -> Iterator[tuple[Path, set[str]]]:
    for root, folders, files in os.walk(directory):
        folders[:] = sorted(
            (name for name in folders if name not in SKIPPED and not name.startswith(".")), key=_number_first
        )
        yield Path(root), set(files)


def _number_first(name: str) -> tuple[int, str]:
    number = name.split("__", 1)[0]
    return (int(number) if number.isdigit() else 0, name)


def _status(path: Path, document: Document) -> str:
    """Return the run's status; `interrupted` if run.json states `running` but no process holds the lock."""
    status = str(document.get("status") or "unknown")
    if status != "running" or document.get("ended"):
        return status
    try:
        with opened(path) as stream:
            fcntl.lockf(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return "interrupted"
    except OSError:
        return "running"
    return "interrupted"


def _commands(directory: Path, folders: list[tuple[Path, set[str]]]) -> tuple[tuple[Command, ...], tuple[Finding, ...]]:
    commands: list[Command] = []
    findings: tuple[Finding, ...] = ()
    for folder, files in folders:
        if "status.json" not in files:
            continue
        where = str(folder.relative_to(directory))
        document, more = read_document(folder / "status.json", "command", f"{where}/status.json")
        findings += more
        if document is not None:
            text = _said(folder / "FAILURE") if "FAILURE" in files else None
            commands.append(_command(where, document, text))
    return tuple(sorted(commands, key=lambda command: command.started_s or 0.0)), findings


def _said(path: Path) -> str:
    """Return the message of a failure, or the beginning of a long one; empty if it cannot be read."""
    try:
        with opened(path) as stream:
            return stream.read(LONGEST_FAILURE).decode("utf-8", "replace")
    except OSError:
        return ""


def _command(where: str, document: Document, failure: str | None) -> Command:
    return Command(
        directory=where,
        role=str(document.get("role") or where),
        status=str(document.get("status") or "unknown"),
        host=text_or_none(document.get("host")),
        lane=text_or_none(document.get("lane")),
        started_s=parse_time(document.get("started")),
        ended_s=parse_time(document.get("ended")),
        error=text_or_none(document.get("error")),
        failure=failure,
    )


def _stopped(command: Command) -> Command:
    """A command that a killed process left with the status running."""
    return replace(command, status="interrupted") if command.status == "running" else command


def _cells(directory: Path, folders: list[tuple[Path, set[str]]]) -> tuple[tuple[Cell, ...], tuple[Finding, ...]]:
    cells: list[Cell] = []
    directories: set[str] = set()
    findings: tuple[Finding, ...] = ()
    for folder, files in folders:
        if "cell.json" not in files:
            continue
        relative = folder.relative_to(directory)
        # the run of a user in a pod is a part of the cell that runs the users
        if not directories.isdisjoint(map(str, relative.parents)):
            continue
        where = str(relative)
        directories.add(where)
        document, more = read_document(folder / "cell.json", "cell", f"{where}/cell.json")
        findings += more
        if document is not None:
            index, attempt = document.get("index"), document.get("attempt")
            cells.append(
                Cell(
                    directory=where,
                    index=index if isinstance(index, int) else len(cells),
                    values=mapping(document.get("values")),
                    status=str(document.get("status") or "unknown"),
                    attempt=attempt if isinstance(attempt, int) else 1,
                )
            )
    return tuple(cells), findings


def _places(
    directory: Path, folders: list[tuple[Path, set[str]]], cells: tuple[Cell, ...], markers: tuple[str, ...]
) -> Iterator[Place]:
    by_directory = {cell.directory: cell for cell in cells}
    for folder, files in folders:
        relative = folder.relative_to(directory)
        for marker in markers:
            if marker in files:
                above = (by_directory.get(str(parent)) for parent in (relative, *relative.parents))
                cell = next((cell for cell in above if cell is not None), None)
                yield Place(folder, str(relative), marker, cell)


def with_unique_names(places: Iterable[Place]) -> tuple[Place, ...]:
    """Return the places; places with equal names (two kinds in one directory, `a/b` and `a.b`) get distinct names."""
    found = tuple(places)
    often = Counter(place.name for place in found)
    taken = {name for name, count in often.items() if count == 1}
    named = []
    for place in found:
        if often[place.name] > 1:
            plain = f"{place.name}.{Path(place.marker).stem}"
            names = (plain, *(f"{plain}.{number}" for number in range(2, len(found) + 2)))
            place = replace(place, own_name=next(name for name in names if name not in taken))
            taken.add(place.own_name)
        named.append(place)
    return tuple(named)


def _timeline(path: Path) -> tuple[tuple[Span, ...], tuple[Finding, ...]]:
    try:
        text = content(path).decode("utf-8", "replace")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
    except FileNotFoundError:
        return (), (Finding("note", "timeline.csv", "the file is missing: the timeline shows only commands"),)
    except (OSError, csv.Error) as error:
        return (), (Finding("warning", "timeline.csv", f"the file cannot be read: {error}"),)
    return tuple(_span(row) for row in rows if row.get("kind")), ()


def _span(row: dict[str, str]) -> Span:
    return Span(
        kind=row["kind"],
        name=row.get("name") or "",
        lane=row.get("lane") or None,
        status=row.get("status") or "unknown",
        started_s=parse_time(row.get("start")),
        ended_s=parse_time(row.get("end")),
    )
