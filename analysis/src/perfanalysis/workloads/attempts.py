"""Which recordings of a cell count if several attempts of a run tested it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from perfanalysis.drawing.wording import counted
from perfanalysis.files.discovery import NUMBERED, Cell, Place
from perfanalysis.files.findings import Finding
from perfanalysis.workloads.workload_type import Analysis

ARTIFACTS = re.compile(r"(^|/)artifacts(/.*)?$")


@dataclass(frozen=True)
class Recording:
    """A recording of a run, without an analysis if its files cannot be read."""

    place: Place
    analysis: Analysis | None
    findings: tuple[Finding, ...]

    @property
    def facts(self) -> Mapping[str, str]:
        """Return what distinguishes it: the model and the load, for example."""
        return {} if self.analysis is None else self.analysis.facts


@dataclass(frozen=True)
class Repeated:
    """What a later attempt at the same cell repeated."""

    commands: frozenset[str] = frozenset()
    """Directories of commands; of a cell for its own recordings."""
    cells: frozenset[str] = frozenset()
    """Directories of cells of which all recordings were repeated."""
    findings: tuple[Finding, ...] = ()
    """A note for each cell with such recordings."""

    def has(self, place: Place) -> bool:
        """Return whether the recording or the window of metrics in a place was repeated."""
        in_cell = place.cell is not None and place.cell.directory in self.cells
        return in_cell or _command_of(place) in self.commands


@dataclass(frozen=True)
class _Command:
    """The recordings of one command of a cell, or of the cell itself."""

    cell: Cell
    directory: str
    recordings: list[Recording] = field(default_factory=list)

    @property
    def key(self) -> tuple[int, str]:
        """Return the cell, and the command's directory in it without numbers, which differ between attempts."""
        inside = self.directory.removeprefix(self.cell.directory).split("/")
        return self.cell.index, "/".join(NUMBERED.sub("", part) for part in inside)

    def is_repeated_by(self, other: _Command) -> bool:
        """Return whether a command of a later attempt recorded everything that this one did."""
        later = other.cell.attempt > self.cell.attempt
        return later and all(any(_is_same(own, one) for one in other.recordings) for own in self.recordings)


def _is_same(earlier: Recording, later: Recording) -> bool:
    # a recording that a killed attempt did not complete has fewer facts
    return earlier.place.marker == later.place.marker and earlier.facts.items() <= later.facts.items()


def find_repeated(recordings: Sequence[Recording]) -> Repeated:
    """Return the recordings of earlier attempts at a cell that a later attempt repeated.

    A resumed run tests a cell again, but can reuse loads of an earlier attempt. So a recording of an earlier attempt
    counts until a command of a later attempt has recorded the same.
    """
    commands = _by_command(recordings)
    alike: dict[tuple[int, str], list[_Command]] = {}
    for command in commands:
        alike.setdefault(command.key, []).append(command)
    repeated = [one for one in commands if any(map(one.is_repeated_by, alike[one.key]))]
    if not repeated:
        return Repeated()
    left, every = (Counter(command.cell.directory for command in some) for some in (repeated, commands))
    numbers: Counter[str] = Counter()
    for command in repeated:
        numbers[command.cell.directory] += len(command.recordings)
    return Repeated(
        commands=frozenset(command.directory for command in repeated),
        cells=frozenset(directory for directory, number in left.items() if number == every[directory]),
        findings=tuple(
            Finding("note", directory, f"a later attempt at the cell repeated {counted(number, 'recording')}: omitted")
            for directory, number in numbers.items()
        ),
    )


def _command_of(place: Place) -> str:
    return ARTIFACTS.sub("", place.relative)


def _by_command(recordings: Iterable[Recording]) -> list[_Command]:
    found: dict[str, _Command] = {}
    for recording in recordings:
        cell = recording.place.cell
        if cell is not None:
            directory = _command_of(recording.place)
            found.setdefault(directory, _Command(cell, directory)).recordings.append(recording)
    return list(found.values())
