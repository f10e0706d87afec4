"""Lines of logs, and the records that readers make of them.

Also the problems in trainers' logs: out of memory, a lost collective, a full disk.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from perfanalysis.files.bounded import opened
from perfanalysis.files.documents import any_number, parse_time

LONGEST = 100_000
"""Characters of a line that are read; no trainer's record is longer."""
ESCAPE = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]?")
CONTROL = bytes(code for code in (*range(0x1B), *range(0x1C, 0x20), 0x7F) if code not in b"\t\n\r\x07")
"""Invisible bytes, except those that end a line or a terminal's title."""
STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) ")
PREFIX = re.compile(r"\s*(?:\[(?:rank|default)\d+\]:\s?|\((?:[\w.<>-]+ )?pid=\d+(?:, ip=[\w.:]+)?\) ?)")
PREFIX_BEGINS = ("[", "(")
REPEATED = re.compile(r"\s*\[repeated \d+x across cluster\].*$")


@dataclass(frozen=True)
class Line:
    """A piece of a line, as a terminal would show it; `at_s` is its timestamp if the log has any."""

    number: int
    text: str
    at_s: float | None


def clean_lines(path: Path) -> Iterator[Line]:
    """Yield every piece of every line of a log. Raises OSError if the file cannot be read."""
    with opened(path) as stream:
        for number, raw in enumerate(stream, start=1):
            text = raw[: 4 * LONGEST].translate(None, CONTROL).decode("utf-8", errors="replace")[:LONGEST]
            if "\x1b" in text:
                text = ESCAPE.sub("", text)
            text, at_s = _without_stamp(text.rstrip("\n"))
            for piece in text.split("\r"):
                if piece.strip():
                    yield Line(number, _without_prefix(piece), at_s)


def _without_stamp(text: str) -> tuple[str, float | None]:
    """Return a line without the timestamp of `kubectl logs --timestamps`, and the timestamp."""
    match = STAMP.match(text)
    return (text[match.end() :], parse_time(match[1])) if match else (text, None)


def _without_prefix(text: str) -> str:
    """Return a line without the prefixes of torchrun and Ray."""
    match = PREFIX.match(text) if text.lstrip()[:1] in PREFIX_BEGINS else None
    return REPEATED.sub("", text[match.end() :]) if match else text


LARGEST = 1e18
"""No trainer's number is larger: a larger one was damaged."""


@dataclass(frozen=True)
class TrainingStep:
    """One record of a training step; values that the trainer did not print are None.

    `own_number` is true if the record itself counts the steps. Times are seconds; memory is GiB; `not_finite` names the
    numbers that were NaN or infinite.
    """

    line: int
    number: float | None = None
    own_number: bool = False
    epoch: float | None = None
    at_s: float | None = None
    elapsed_s: float | None = None
    step_time_s: float | None = None
    loss: float | None = None
    eval_loss: float | None = None
    grad_norm: float | None = None
    learning_rate: float | None = None
    samples: float | None = None
    samples_seen: float | None = None
    samples_per_second: float | None = None
    tokens: float | None = None
    tokens_seen: float | None = None
    gpu_memory_gib: float | None = None
    not_finite: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fact:
    """A number that a log states once or for the whole training."""

    line: int
    name: str
    value: float


@dataclass(frozen=True)
class Problem:
    """A problem in a log: `kind` is its name, `count` how often, `line` the first line."""

    kind: str
    line: int
    text: str
    count: int = 1


@dataclass
class Gathered:
    """The results of a reader so far."""

    steps: list[TrainingStep] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    torn: list[int] = field(default_factory=list)
    """Lines of truncated records."""

    def fact(self, line: int, name: str, value: float | None) -> None:
        """Record a fact if its number is valid."""
        if value is not None:
            self.facts.append(Fact(line, name, value))


class Reader(Protocol):
    """Reads one format from a log that may contain anything else."""

    gathered: Gathered

    def feed(self, line: Line) -> None:
        """Read one piece of a line."""

    def close(self) -> None:
        """End the log."""


def finite(value: object) -> float | None:
    """Return a number of a record; None if it is not a number, not finite, or too large."""
    number = any_number(value)
    return number if number is not None and math.isfinite(number) and abs(number) < LARGEST else None


def not_finite(values: dict[str, object], names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names whose value is NaN or infinite."""
    numbers = ((name, any_number(values.get(name))) for name in names)
    return tuple(name for name, number in numbers if number is not None and not math.isfinite(number))


def beginnings(steps: list[TrainingStep]) -> Iterator[list[TrainingStep]]:
    """Return the steps of each start of a training: if epoch or step decrease, it was restarted."""
    part: list[TrainingStep] = []
    epoch: float | None = None
    for step in steps:
        if part and _goes_back(part[-1], epoch, step):
            yield part
            part, epoch = [], None
        part.append(step)
        epoch = step.epoch if step.epoch is not None else epoch
    if part:
        yield part


def _goes_back(last: TrainingStep, epoch: float | None, step: TrainingStep) -> bool:
    if epoch is not None and step.epoch is not None and step.epoch != epoch:
        return step.epoch < epoch
    counted = last.own_number and step.own_number and last.number is not None and step.number is not None
    return counted and (step.number or 0.0) < (last.number or 0.0)


NAMED = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("GPU out of memory", r"(?:CUDA|HIP) out of memory|\bOutOfMemoryError\b"),
        ("collective timed out", r"collective operation timeout|NCCL.{0,80}timed? ?out"),
        (
            "NCCL error",
            r"\bncclUnhandledCudaError\b|\bNCCL error\b|\bnccl(?:System|Internal|Remote|Invalid\w+)\w*Error\b",
        ),
        ("disk full", r"No space left on device"),
        ("shared memory too small", r"\bBus error\b|insufficient shared memory"),
        ("process killed", r"Signal 9 \(SIGKILL\)|exitcode\s*: -9\b|^Killed$|worker died unexpectedly"),
        ("rendezvous failed", r"RendezvousConnectionError|RendezvousTimeoutError"),
    )
)
WORDS = (
    "memory", "OutOfMemory", "imeout", "imed", "NCCL", "nccl", "space left", "Bus error", "SIGKILL", "exitcode",
    "Killed", "worker died", "Rendezvous", "Traceback",
)  # fmt: skip
"""Only lines with one of these can be a problem; a word is found faster than a pattern."""
TRACEBACK = "Traceback (most recent call last):"
RAISED = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)\b")
LONGEST_TEXT = 240
MOST_KINDS = 20


class ProblemReader:
    """Counts named problems; keeps the text of the first."""

    def __init__(self) -> None:
        self._found: dict[str, Problem] = {}
        self._traceback = False

    def feed(self, line: Line) -> None:
        """Read one piece of a line."""
        text = line.text
        if not self._traceback and not any(word in text for word in WORDS):
            return
        kind = next((kind for kind, pattern in NAMED if pattern.search(text)), None)
        if TRACEBACK in text:
            self._traceback = True
        elif self._traceback and RAISED.match(text):
            self._traceback = False
            kind = kind or f"exception {text.split(':')[0].split('.')[-1]}"
        if kind is not None:
            self._note(kind, line)

    def _note(self, kind: str, line: Line) -> None:
        before = self._found.get(kind)
        if before is not None:
            self._found[kind] = Problem(kind, before.line, before.text, before.count + 1)
        elif len(self._found) < MOST_KINDS:
            self._found[kind] = Problem(kind, line.number, line.text.strip()[:LONGEST_TEXT])

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return the problems, in the order of the log."""
        return tuple(self._found.values())
