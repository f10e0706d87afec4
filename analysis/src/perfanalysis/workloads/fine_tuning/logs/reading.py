"""Read the logs of a job: the main pod's first; the first with training steps or results is the trainer's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfanalysis.files.tables import TableSpec
from perfanalysis.workloads.fine_tuning.logs.hf_trainer import HfTrainerReader
from perfanalysis.workloads.fine_tuning.logs.instructlab import InstructLabReader
from perfanalysis.workloads.fine_tuning.logs.ray_output import RayReader
from perfanalysis.workloads.fine_tuning.logs.records import (
    Fact,
    Problem,
    ProblemReader,
    Reader,
    TrainingStep,
    beginnings,
    clean_lines,
)
from perfanalysis.workloads.fine_tuning.tables import FACTS, PROBLEMS, STEPS

if TYPE_CHECKING:
    import pandas as pd

HF_TRAINER, INSTRUCTLAB, RAY = "hf_trainer", "instructlab", "ray"
ORDERS = {
    "fms": (HF_TRAINER, INSTRUCTLAB),
    "ilab": (INSTRUCTLAB, HF_TRAINER),
    "ray": (RAY, HF_TRAINER),
}
ANY = (HF_TRAINER, INSTRUCTLAB, RAY)
"""Formats by the job's workload, the likeliest first: a Ray job may run Hugging Face's Trainer."""


@dataclass(frozen=True)
class LogRead:
    """The contents of one log; `format` is None if no reader recognises it."""

    log: str
    format: str | None
    steps: tuple[TrainingStep, ...]
    facts: tuple[Fact, ...]
    problems: tuple[Problem, ...]


def read_logs(directory: Path, logs: Iterable[str], workload: str, logging_steps: float) -> tuple[LogRead, ...]:
    """Return every readable log of a job, and problems for the others."""
    found: list[LogRead] = []
    for log in logs:
        path = directory / log
        if not path.resolve().is_relative_to(directory.resolve()):
            found.append(LogRead(log, None, (), (), (Problem("foreign path", 0, "it is not below the artifacts"),)))
            continue
        try:
            found.append(read_log(path, log, workload, logging_steps))
        except OSError as error:
            reason = "the file is missing" if isinstance(error, FileNotFoundError) else f"it cannot be read: {error}"
            found.append(LogRead(log, None, (), (), (Problem("no log", 0, reason),)))
    return tuple(found)


def read_log(path: Path, log: str, workload: str, logging_steps: float = 1.0) -> LogRead:
    """Read one log once with every reader that its workload may need. Raises OSError."""
    readers = {name: _reader(name, logging_steps) for name in ORDERS.get(workload, ANY)}
    problems = ProblemReader()
    empty = True
    for line in clean_lines(path):
        empty = False
        problems.feed(line)
        for reader in readers.values():
            reader.feed(line)
    for reader in readers.values():
        reader.close()
    name = _best(readers)
    found = problems.problems + ((Problem("empty log", 0, "the log is empty"),) if empty else ())
    if name is None:
        return LogRead(log, None, (), (), found)
    reader = readers[name]
    if isinstance(reader, RayReader):
        found += tuple(reader.problems)
    return _of_reader(log, name, reader, found)


def _reader(name: str, logging_steps: float) -> Reader:
    if name == HF_TRAINER:
        return HfTrainerReader(logging_steps)
    return InstructLabReader() if name == INSTRUCTLAB else RayReader()


def _best(readers: dict[str, Reader]) -> str | None:
    """Return the first reader with steps, else the first with anything."""
    for holds in ("steps", "facts", "torn"):
        for name, reader in readers.items():
            if getattr(reader.gathered, holds):
                return name
    return None


def _of_reader(log: str, name: str, reader: Reader, found: tuple[Problem, ...]) -> LogRead:
    gathered = reader.gathered
    begun = list(beginnings(gathered.steps))
    steps = _counted(begun[-1]) if begun else ()
    if gathered.torn:
        text = "truncated records were left out"
        found += (Problem("torn records", gathered.torn[0], text, len(gathered.torn)),)
    if len(begun) > 1:
        text = "the training was restarted; only the steps after the last start are used"
        found += (Problem("restarted", begun[-1][0].line, text, len(begun) - 1),)
    for number in ("loss", "eval_loss", "grad_norm", "learning_rate"):
        wrong = [step for step in steps if number in step.not_finite]
        if wrong:
            place = "" if wrong[0].number is None else f", from step {wrong[0].number:g} on"
            text = f"{number} is NaN or infinite{place}"
            found += (Problem(f"{number} not finite", wrong[0].line, text, len(wrong)),)
    return LogRead(log, name, steps, tuple(gathered.facts), found)


def _counted(steps: list[TrainingStep]) -> tuple[TrainingStep, ...]:
    """Return steps with ascending numbers, also if a trainer counts from 0 in every epoch, or not at all."""
    numbers = [step.number for step in steps]
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers) and known == sorted(known):
        return tuple(steps)
    return tuple(replace(step, number=float(place)) for place, step in enumerate(steps, start=1))


def trainers_log(logs: Iterable[LogRead]) -> LogRead | None:
    """Return the log whose steps and results are used: the first with steps, else the first with facts."""
    given = list(logs)
    with_steps = (log for log in given if log.steps)
    with_facts = (log for log in given if log.facts)
    return next(with_steps, next(with_facts, None))


def steps_frame(log: LogRead | None) -> pd.DataFrame:
    """Return the training steps of the trainer's log."""
    if log is None:
        return STEPS.empty()
    rows = [{**vars(step), "step": step.number, "log": log.log, "format": log.format} for step in log.steps]
    return _frame(STEPS, rows)


def facts_frame(log: LogRead | None) -> pd.DataFrame:
    """Return the facts of the trainer's log."""
    if log is None:
        return FACTS.empty()
    return _frame(FACTS, [{**vars(fact), "log": log.log, "format": log.format} for fact in log.facts])


def problems_frame(logs: Iterable[LogRead]) -> pd.DataFrame:
    """Return the problems of all logs."""
    return _frame(PROBLEMS, [{**vars(problem), "log": log.log} for log in logs for problem in log.problems])


def _frame(spec: TableSpec, rows: list[dict[str, Any]]) -> pd.DataFrame:

    return spec.of_rows(rows)
