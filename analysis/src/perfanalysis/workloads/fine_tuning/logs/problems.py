"""Problems that logs of trainers tell of in words of their own: out of memory, a lost collective, a full disk."""

from __future__ import annotations

import re

from perfanalysis.workloads.fine_tuning.logs.records import Line, Problem

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
