"""Lines of logs, and the records that readers make of them.

Problems that logs of trainers tell of in words of their own: out of memory, a lost collective, a full disk.
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
    """A line without the stamp that `kubectl logs --timestamps` puts before it, and the stamp."""
    match = STAMP.match(text)
    return (text[match.end() :], parse_time(match[1])) if match else (text, None)


def _without_prefix(text: str) -> str:
    """A line without what torchrun and Ray put around a worker's own words."""
    match = PREFIX.match(text) if text.lstrip()[:1] in PREFIX_BEGINS else None
    return REPEATED.sub("", text[match.end() :]) if match else text


LARGEST = 1e18
"""No trainer's number is larger: what is, was damaged on its way."""


@dataclass(frozen=True)
class TrainingStep:
    """One record of a training step; what the trainer did not print is None.

    `own_number` tells that the record itself counts the steps. Times are seconds; memory is GiB; `not_finite` names
    the numbers that were NaN or infinite.
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
    """A number that a log states once or of the whole training."""

    line: int
    name: str
    value: float


@dataclass(frozen=True)
class Problem:
    """Something of a log that its reader must know: `kind` is its name, `count` how often, `line` where first."""

    kind: str
    line: int
    text: str
    count: int = 1


@dataclass
class Gathered:
    """What a reader has found so far."""

    steps: list[TrainingStep] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    torn: list[int] = field(default_factory=list)
    """Lines of records that are not whole."""

    def fact(self, line: int, name: str, value: float | None) -> None:
        """Note a fact whose number is one."""
        if value is not None:
            self.facts.append(Fact(line, name, value))


class Reader(Protocol):
    """Reads one format out of a log that may hold anything beside it."""

    gathered: Gathered

    def feed(self, line: Line) -> None:
        """Take one piece of a line."""

    def close(self) -> None:
        """The log has ended."""


def finite(value: object) -> float | None:
    """A number of a record; None for what is none, not finite, or larger than any."""
    number = any_number(value)
    return number if number is not None and math.isfinite(number) and abs(number) < LARGEST else None


def not_finite(values: dict[str, object], names: tuple[str, ...]) -> tuple[str, ...]:
    """The names whose value is NaN or infinite."""
    numbers = ((name, any_number(values.get(name))) for name in names)
    return tuple(name for name, number in numbers if number is not None and not math.isfinite(number))


def beginnings(steps: list[TrainingStep]) -> Iterator[list[TrainingStep]]:
    """The steps of each beginning of a training: where epoch or step go back, it was begun anew."""
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
"""A line without any of these has no problem: most have none, and a word is found faster than a pattern."""
TRACEBACK = "Traceback (most recent call last):"
RAISED = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)\b")
LONGEST_TEXT = 240
MOST_KINDS = 20


class ProblemReader:
    """Counts named problems; the text of the first is kept."""

    def __init__(self) -> None:
        self._found: dict[str, Problem] = {}
        self._traceback = False

    def feed(self, line: Line) -> None:
        """Take one piece of a line."""
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
        """What was found, in the order of the log."""
        return tuple(self._found.values())
