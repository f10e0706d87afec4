"""InstructLab's training, which prints a JSON object for every step, in green, on one line or on several.

Lines of other ranks may interrupt it; an interrupted object is truncated.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

from perfanalysis.workloads.fine_tuning.logs.records import Gathered, Line, TrainingStep, finite, not_finite

RECORD = re.compile(r"\"(?:samples_seen|total_loss|overall_throughput)\"\s*:")
WORDS = ("samples_seen", "total_loss", "overall_throughput", "torchrun_exec_time", "TORCHRUN")
"""A line without any of these, outside of an object, is irrelevant."""
MEMBER = re.compile(r"\"[^\"]*\"\s*:[^{}]*$")
OBJECT = re.compile(r"\{\s*\"")
MOST_LINES = 200
"""No record is longer; a longer one has lost its end."""
MOST_TRIED = 20
NAMES = {"loss": ("total_loss", "loss"), "grad_norm": ("gradnorm", "grad_norm"), "learning_rate": ("lr",)}
TORCHRUN = re.compile(r"torchrun_exec_time\W+(\d+(?:\.\d+)?)\s*(?:min|$)", re.IGNORECASE)
DECODER = json.JSONDecoder()


class InstructLabReader:
    """Reads the JSON objects of training steps."""

    def __init__(self) -> None:
        self.gathered = Gathered()
        self._open: list[str] = []
        self._opened_at: Line | None = None
        self._loose = False

    def feed(self, line: Line) -> None:
        """Read one piece of a line: a complete object, a part of one, or something else."""
        text = line.text.strip()
        if self._opened_at is None and not any(word in text for word in WORDS) and not text.endswith("{"):
            self._loose = False
            return
        if self._opened_at is not None and text.startswith("}"):
            self._finish(line)
        elif MEMBER.match(text):
            self._member(line, text)
        else:
            self._anything(line, text)
            if text.endswith("{"):
                self._abandon()
                self._open, self._opened_at = ["{"], line

    def close(self) -> None:
        """Count an object that is still open as truncated."""
        self._abandon()

    def _member(self, line: Line, text: str) -> None:
        if self._opened_at is not None:
            self._open.append(text)
            if len(self._open) > MOST_LINES:
                self._abandon()
        elif RECORD.search(text) and not self._loose:
            self._loose = True
            self.gathered.torn.append(line.number)

    def _anything(self, line: Line, text: str) -> None:
        self._loose = False
        minutes = TORCHRUN.search(text)
        if minutes is not None and (number := finite(minutes[1])) is not None:
            self.gathered.fact(line.number, "torchrun_exec_time_s", 60 * number)
        if not RECORD.search(text):
            return
        rest = []
        end = 0
        for match in list(OBJECT.finditer(text))[:MOST_TRIED]:
            if match.start() < end:
                continue
            try:
                value, after = DECODER.raw_decode(text, match.start())
            except (ValueError, RecursionError):
                continue
            rest.append(text[end : match.start()])
            end = after
            self._take(line, value)
        rest.append(text[end:])
        if any(RECORD.search(part) for part in rest):
            self.gathered.torn.append(line.number)

    def _finish(self, line: Line) -> None:
        opened = self._opened_at or line
        try:
            value = json.loads("".join(self._open) + "}")
        except (ValueError, RecursionError):
            self._abandon()
            return
        self._open, self._opened_at = [], None
        self._take(opened, value)

    def _abandon(self) -> None:
        if self._opened_at is not None and any(RECORD.search(part) for part in self._open):
            self.gathered.torn.append(self._opened_at.number)
        self._open, self._opened_at = [], None

    def _take(self, line: Line, value: object) -> None:
        if isinstance(value, dict) and any(name in value for name in ("samples_seen", "total_loss")):
            self.gathered.steps.append(_step(line, value))


def _step(line: Line, values: dict[str, object]) -> TrainingStep:
    flat = {name: next((values[one] for one in given if one in values), None) for name, given in NAMES.items()}
    at_s = _stamp(values.get("timestamp"))
    number = finite(values.get("step"))
    return TrainingStep(
        line=line.number,
        number=number,
        own_number=number is not None,
        epoch=finite(values.get("epoch")),
        at_s=at_s if at_s is not None else line.at_s,
        loss=finite(flat["loss"]),
        grad_norm=finite(flat["grad_norm"]),
        learning_rate=finite(flat["learning_rate"]),
        samples=finite(values.get("batch_size")),
        samples_seen=finite(values.get("samples_seen")),
        samples_per_second=finite(values.get("overall_throughput")),
        tokens=finite(values.get("num_tokens_rank0")),
        gpu_memory_gib=finite(values.get("cuda_mem_allocated")),
        not_finite=not_finite(flat, tuple(NAMES)),
    )


def _stamp(value: object) -> float | None:
    """Return the trainer's timestamp; it has no zone, and containers use UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
