"""Run programs on the host, and time one of them.

Ansible sends this module to hosts: it needs only Python 3.9 and its standard library.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.hosts.programs import (
    Argv,
    HostSideError,
    ProgramResult,
    Programs,
)

LOCK, UNDO = "lock", "undo.jsonl"
_EMPTY_RUNS = 20
_LOCK_POLL_S = 0.2
_RETRY_S = 0.2


@dataclass(frozen=True)
class Step:
    """A program, which is skipped if *unless* succeeds, and undone by *undo*.

    It is repeated for up to *within_s* seconds until it succeeds.
    """

    program: Argv
    unless: Argv | None = None
    undo: Argv | None = None
    within_s: float = 0.0


@dataclass(frozen=True)
class Proof:
    """Evidence that a run did its work: *output*, an expression for the output of *program* or the timed program."""

    output: str
    program: Argv | None = None


@dataclass(frozen=True)
class Plan:
    """Programs to run in a directory.

    Args:
        files: Texts by file name, written before the setup.
        setup: Steps before all runs, undone after the last.
        prepare: Steps before each run, undone after it.
        measured: The timed program; None to only set up.
        beside: Started right before the timed program, and awaited after it.
        numbers: Expressions by name, whose first group is a number in the timed program's output.
        least_s: Minimum time of the timed program if it does its work.
        tolerated: Expression for the standard error of a failed run that is recorded, so that the next one follows.
        left: Programs that print remaining objects.
        stdin: Input of the timed program, through a pipe, so that it is not on disk.
    """

    directory: str
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    setup: Sequence[Step] = ()
    prepare: Sequence[Step] = ()
    measured: Step | None = None
    beside: Argv | None = None
    runs: int = 1
    timeout_s: float = 600.0
    proof: Sequence[Proof] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)
    least_s: float = 0.0
    tolerated: str | None = None
    left: Sequence[Argv] = ()
    stdin: bytes = b""


def measure(plan: Plan, listened: Callable[[], bool]) -> dict[str, Any]:
    """Perform *plan*, and undo its steps in any case.

    Args:
        listened: Returns, once a second, whether the controller still waits.

    Returns:
        ``runs`` with the figures of each, ``overhead`` of the empty command, the output of the steps of ``setup``,
        ``stdout`` of the last run, when it ``begun`` and ``ended`` by the host's clock, the end by its ``monotonic``
        clock, ``problem``, the error if one occurred, and whether all is ``clean``.

    Raises:
        Stopped: If the controller no longer waits.
    """
    directory = Path(plan.directory)
    runs: list[dict[str, Any]] = []
    answer: dict[str, Any] = {"begun": time.time(), "runs": runs, "overhead": None, "setup": [], "stdout": ""}
    answer["problem"] = None
    with _own(directory) as undo_file:
        programs = Programs(directory, plan.environment, plan.timeout_s)
        ended = threading.Event()
        threading.Thread(target=_listen, args=(programs, listened, ended), daemon=True).start()
        undo_log = _UndoLog(programs, undo_file)
        try:
            answer["overhead"] = overhead(programs)
            for name, text in plan.files.items():
                (directory / name).parent.mkdir(parents=True, exist_ok=True)
                (directory / name).write_text(text, encoding="utf-8")
            for step in plan.setup:
                answer["setup"].append(undo_log.perform(step))
            set_up = undo_log.mark()
            for measured in [plan.measured] * plan.runs if plan.measured else []:
                _one_run(plan, measured, programs, undo_log, answer)
                undo_log.undo_to(set_up)
        except (HostSideError, OSError) as error:
            answer["problem"] = str(error)
        finally:
            # the cleanup runs even if the controller no longer waits
            ended.set()
            programs.abandoned = False
            undo_log.undo_to(0)
            left = remains(programs, plan.left) if undo_log.anything else None
            if left is None:
                _remove_directory(directory)
        answer.update(clean=left is None, problem=answer["problem"] or left)
        answer.update(ended=time.time(), monotonic=time.monotonic())
    return answer


def _one_run(plan: Plan, measured: Step, programs: Programs, undo_log: _UndoLog, answer: dict[str, Any]) -> None:
    for step in plan.prepare:
        undo_log.perform(step)
    undo_log.record(measured)
    with programs.beside(plan.beside) as beside:
        ran = programs.run(measured.program, plan.stdin)
    figures: dict[str, Any] = {**ran.figures(), "numbers": {}}
    if beside is not None:
        figures["beside_s"] = beside()
    answer["runs"].append(figures)
    answer["stdout"] = ran.stdout
    if ran.exit_code != 0 and plan.tolerated and re.search(plan.tolerated, ran.stderr):
        return
    _prove(plan, " ".join(measured.program), programs, ran, figures["numbers"])


def _prove(plan: Plan, words: str, programs: Programs, ran: ProgramResult, numbers: dict[str, float]) -> None:
    """Check that the program did its work, and add the numbers in its output to *numbers*.

    Raises:
        HostSideError: If it did not.
    """
    output = (ran.stderr or ran.stdout).strip()[-2000:]
    if ran.exit_code != 0:
        raise HostSideError(f"{words} ended with {ran.exit_code}: {output}")
    if ran.took_s < plan.least_s:
        raise HostSideError(
            f"{words} ended after {ran.took_s:.3f} s, but takes {plan.least_s:g} s at least if it does its work: "
            f"{output}"
        )
    for name, expression in plan.numbers.items():
        found = re.search(expression, ran.stdout, re.MULTILINE)
        if not found:
            raise HostSideError(f"the output of {words} has no {name}: {output}")
        numbers[name] = float(found.group(1))
        if numbers[name] <= 0:
            raise HostSideError(f"{words} did nothing: {name} is {found.group(1)}")
    for proof in plan.proof:
        searched = ran.stdout if proof.program is None else programs.must(proof.program).stdout
        if not re.search(proof.output, searched, re.MULTILINE):
            where = words if proof.program is None else " ".join(proof.program)
            raise HostSideError(
                f"{words} did not do its work: {where} printed {searched.strip()[-500:]!r}, not {proof.output}"
            )


class _UndoLog:
    """The steps to undo, written to disk before they are performed."""

    def __init__(self, programs: Programs, path: Path) -> None:
        self._programs, self._path = programs, path
        self._steps: list[Argv] = []
        self.anything = False

    def perform(self, step: Step) -> str:
        """Run *step*, and return its output; empty if it was not needed."""
        if step.unless is not None and self._programs.run(step.unless).exit_code == 0:
            return ""
        self.record(step)
        deadline = time.monotonic() + step.within_s
        while time.monotonic() < deadline:
            ran = self._programs.run(step.program)
            if ran.exit_code == 0:
                return ran.stdout
            time.sleep(_RETRY_S)
        return self._programs.must(step.program).stdout

    def record(self, step: Step) -> None:
        if step.undo is not None:
            self._steps.append(step.undo)
            self.anything = True
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(list(step.undo)) + "\n")

    def mark(self) -> int:
        return len(self._steps)

    def undo_to(self, mark: int) -> None:
        """Undo the newest first, and ignore failures: a later check finds remaining objects."""
        while len(self._steps) > mark:
            with contextlib.suppress(HostSideError):
                self._programs.run(self._steps[-1])
            self._steps.pop()


def overhead(programs: Programs) -> dict[str, Any]:
    """Return the overhead of a measurement: the times of a program that does nothing."""
    empty = shutil.which("true") or "true"
    times = [programs.must([empty]).took_s for _number in range(_EMPTY_RUNS)]
    return {"program": empty, "runs": len(times), "median_s": statistics.median(times), "max_s": max(times)}


def remains(programs: Programs, left: Sequence[Argv]) -> str | None:
    """Return what the programs *left* still find; None if nothing."""
    for argv in left:
        try:
            found = programs.must(argv).stdout.strip()
        except HostSideError as problem:
            return f"cannot check for remaining objects: {problem}"
        if found:
            return f"{' '.join(argv)} still finds {found[-500:]}"
    return None


def remove(directory: str, environment: Mapping[str, str], left: Sequence[Argv], patience_s: float) -> str | None:
    """Undo a killed measurement after its process has ended, and return what remains; None if nothing."""
    path = Path(directory)
    if not path.is_dir():
        return None
    with (path / LOCK).open("a+", encoding="utf-8") as stream:
        _await_end(stream, patience_s)
        programs = Programs(path, environment, patience_s)
        undo_file = path / UNDO
        lines = undo_file.read_text(encoding="utf-8").splitlines() if undo_file.exists() else []
        for line in reversed(lines):
            # after a power failure, the last line may be incomplete
            with contextlib.suppress(ValueError, HostSideError):
                programs.run(json.loads(line))
        programs.kill_left()
        found = remains(programs, left) if lines else None
        if found is None:
            _remove_directory(path)
    return found


def _await_end(stream: Any, patience_s: float) -> None:
    """Wait for the process that holds the lock, and kill it after *patience_s* by its ID in the file."""
    deadline = time.monotonic() + patience_s
    killed = False
    while True:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            pass
        if not killed and time.monotonic() > deadline:
            stream.seek(0)
            # the process that holds the lock is alive, so its ID is not reused
            os.kill(int(stream.read()), signal.SIGKILL)
            killed = True
        time.sleep(_LOCK_POLL_S)


@contextlib.contextmanager
def _own(directory: Path) -> Iterator[Path]:
    """Create and lock the directory of this process, and yield the file with the steps to undo."""
    try:
        directory.mkdir(mode=0o700, parents=True)
        stream = (directory / LOCK).open("w", encoding="utf-8")
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.write(str(os.getpid()))
        stream.flush()
    except OSError as error:
        shutil.rmtree(directory, ignore_errors=True)
        raise HostSideError(f"cannot work in {directory}: {error.strerror}") from error
    with stream:
        yield directory / UNDO


def _remove_directory(directory: Path) -> None:
    try:
        shutil.rmtree(directory)
    except FileNotFoundError:
        # the awaited process removed it at its end
        return
    except OSError as error:
        raise HostSideError(f"cannot remove {directory}: {error.strerror}") from error
    with contextlib.suppress(OSError):
        # other measurements may use it
        directory.parent.rmdir()


def _listen(programs: Programs, listened: Callable[[], bool], ended: threading.Event) -> None:
    while not ended.wait(1.0):
        if not listened():
            programs.abandoned = True
            programs.kill()
            return
