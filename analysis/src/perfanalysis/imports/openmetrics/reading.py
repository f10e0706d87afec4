"""Read OpenMetrics text; whatever the specification forbids is an error with file and line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.imports.openmetrics.lines import NAME, MalformedError, sample_line, unescaped
from perfanalysis.imports.openmetrics.model import ENDINGS, Family, MetricType, Sample
from perfanalysis.imports.openmetrics.rules import check_family, check_sample

EOF = "# EOF"
KEYWORDS = ("TYPE", "UNIT", "HELP")


def read_openmetrics(path: Path) -> tuple[Family, ...]:
    """The families of a file, in its order. Raises UsageError when it cannot be read, else DataQualityError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    return families_of(content, str(path))


def families_of(content: bytes, where: str) -> tuple[Family, ...]:
    """The families of a text. Raises DataQualityError naming `where` and the line."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        place = content[: error.start].count(b"\n") + 1
        raise DataQualityError(f"{where}:{place}: it is no OpenMetrics text: no UTF-8") from error
    reader = _Reader()
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, start=1):
        try:
            reader.read(line, number)
        except MalformedError as error:
            raise DataQualityError(f"{where}:{number}: it is no OpenMetrics text: {error}") from error
    if not reader.ended:
        raise DataQualityError(f"{where}:{max(len(lines), 1)}: it is no OpenMetrics text: the last line must be {EOF}")
    return tuple(reader.done)


@dataclass
class _Open:
    """The family whose lines are being read."""

    name: str
    told: dict[str, str] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)

    @property
    def type(self) -> MetricType:
        return cast(MetricType, self.told.get("TYPE", "unknown"))

    def ending(self, name: str) -> str | None:
        """What the name of a sample has after the family's; None for a sample of another family."""
        ending = name.removeprefix(self.name)
        return ending if name.startswith(self.name) and ending in ENDINGS[self.type] else None


class _Reader:
    """Takes one line after the other."""

    def __init__(self) -> None:
        self.done: list[Family] = []
        self.ended = False
        self._open: _Open | None = None
        self._names: set[str] = set()

    def read(self, line: str, number: int) -> None:
        """Take a line. Raises MalformedError."""
        if self.ended:
            raise MalformedError(f"nothing may follow {EOF}")
        if line == EOF:
            self._close()
            self.ended = True
        elif line.startswith("#"):
            self._metadata(line)
        else:
            self._sample(line, number)

    def _metadata(self, line: str) -> None:
        parts = line.split(" ", 3)
        if len(parts) < 3 or parts[0] != "#" or parts[1] not in KEYWORDS:
            raise MalformedError(f"a line with # is {EOF}, or # {', # '.join(KEYWORDS)} with a name and a text")
        keyword, name, text = parts[1], parts[2], parts[3] if len(parts) == 4 else ""
        if NAME.fullmatch(name) is None:
            raise MalformedError(f"{name!r} is no name of a metric")
        family = self._open
        if family is None or family.name != name:
            family = self._begin(name)
        if family.samples:
            raise MalformedError(f"{keyword} of {name} must stand before its samples")
        if keyword in family.told:
            raise MalformedError(f"{keyword} of {name} is there twice")
        _check_metadata(keyword, name, text)
        family.told[keyword] = unescaped(text) if keyword == "HELP" else text

    def _sample(self, line: str, number: int) -> None:
        if not line:
            raise MalformedError("a line is empty")
        read = sample_line(line)
        family = self._open
        ending = None if family is None else family.ending(read.name)
        if family is None or ending is None:
            family, ending = self._begin(read.name), ""
        sample = Sample(ending, read.labels, read.value, read.at_s, number)
        check_sample(family.name, family.type, sample, exemplar=read.exemplar)
        family.samples.append(sample)

    def _begin(self, name: str) -> _Open:
        self._close()
        if name in self._names:
            raise MalformedError(f"{name} belongs to a family that ended before: lines of a family stand together")
        self._open = _Open(name)
        return self._open

    def _close(self) -> None:
        family, self._open = self._open, None
        if family is None:
            return
        taken = {family.name, *(family.name + ending for ending in ENDINGS[family.type])}
        clash = sorted(taken & self._names)
        if clash:
            raise MalformedError(f"{clash[0]} of the family {family.name} belongs to another family too")
        self._names |= taken
        made = Family(
            family.name, family.type, family.told.get("UNIT", ""), family.told.get("HELP", ""), tuple(family.samples)
        )
        check_family(made)
        self.done.append(made)


def _check_metadata(keyword: str, name: str, text: str) -> None:
    if keyword == "TYPE" and text not in ENDINGS:
        raise MalformedError(f"the type of {name} must be one of {', '.join(ENDINGS)}, not {text!r}")
    if keyword == "UNIT" and text and not name.endswith(f"_{text}"):
        raise MalformedError(f"{name} must end with its unit, _{text}")
