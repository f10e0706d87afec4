"""The lines of a pod's log as a reader sees them on a terminal: no colours, each redrawing of a progress bar apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from perfanalysis.files.documents import parse_time

LONGEST = 100_000
"""Letters of a line that are read; what has more is no trainer's record."""
ESCAPE = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]?")
CONTROL = bytes(code for code in (*range(0x1B), *range(0x1C, 0x20), 0x7F) if code not in b"\t\n\r\x07")
"""Bytes that show nothing, but for those that end a line, or a terminal's title."""
STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ")
PREFIX = re.compile(r"\s*(?:\[(?:rank|default)\d+\]:\s?|\((?:[\w.<>-]+ )?pid=\d+(?:, ip=[\w.:]+)?\) ?)")
PREFIX_BEGINS = ("[", "(")
REPEATED = re.compile(r"\s*\[repeated \d+x across cluster\].*$")


@dataclass(frozen=True)
class Line:
    """A piece of a line, as a terminal would show it; `at_s` is its stamp where the log carries stamps."""

    number: int
    text: str
    at_s: float | None


def clean_lines(path: Path) -> Iterator[Line]:
    """Every piece of every line of a log. Raises OSError when the file cannot be read."""
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            text = raw[: 4 * LONGEST].translate(None, CONTROL).decode("utf-8", errors="replace")[:LONGEST]
            if "\x1b" in text:
                text = ESCAPE.sub("", text)
            text, at_s = _without_stamp(text.rstrip("\n"))
            for piece in text.split("\r"):
                if piece.strip():
                    yield Line(number, _without_prefix(piece), at_s)


def _without_stamp(text: str) -> tuple[str, float | None]:
    """A line without the stamp that `kubectl logs --timestamps` puts before it, and the stamp."""
    match = STAMP.match(text)
    return (text[match.end() :], parse_time(match[1])) if match else (text, None)


def _without_prefix(text: str) -> str:
    """A line without what torchrun and Ray put around a worker's own words."""
    match = PREFIX.match(text) if text.lstrip()[:1] in PREFIX_BEGINS else None
    return REPEATED.sub("", text[match.end() :]) if match else text
