"""Runs programs on the host that it was sent to, and times one of them.

It is sent to hosts by Ansible: Python 3.9 and its standard library are all that it needs.
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
    Programs,
    Ran,
)

LOCK, UNDO = "lock", "undo.jsonl"
_EMPTY_RUNS = 20
_LOCK_POLL_S = 0.2
_TRY_AGAIN_S = 0.2


@dataclass(frozen=True)
class Step:
    """A program; it is left out if *unless* succeeds, and what it made is undone by *undo*.

    :param within_s: for how long it is repeated until it succeeds.
    """

    program: Argv
    unless: Argv | None = None
    undo: Argv | None = None
    within_s: float = 0.0


@dataclass(frozen=True)
class Proof:
    """What shows that a run did its work: the *output* of *program*, of the measured one where that is None."""

    output: str
    program: Argv | None = None


@dataclass(frozen=True)
class Plan:
    """What is run, and where.

    :param files: texts by name, which are there before the setup.
    :param setup: once before, and undone after all.
    :param prepare: before each run, and undone after it.
    :param measured: what is timed; None for a plan that only sets up.
    :param beside: what is started right before what is timed, and waited for after it.
    :param numbers: by name, each the first group of an expression that the measured program's output must match.
    :param least_s: how long the measured program takes at least if it does its work.
    :param tolerated: what the measured program may fail with: the run is recorded, and the next one follows.
    :param left: programs that say something as long as something is left.
    :param stdin: what the measured program reads, from a pipe: it is nowhere on the disk.
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
    """Carry out *plan*, and undo all that it made whatever happens.

    *listened* says once a second whether somebody still waits for the answer.

    :returns: ``runs`` with the figures of each, ``overhead`` of the empty command, what the steps of ``setup`` said,
        ``stdout`` of the last run, when it ``begun`` and ``ended`` by the host's clock, the end by its ``monotonic``
        clock, ``problem``, a sentence where something failed, and whether all is ``clean``.
    :raises Stopped: when nobody listens any more.
    """
    directory = Path(plan.directory)
    runs: list[dict[str, Any]] = []
    answer: dict[str, Any] = {"begun": time.time(), "runs": runs, "overhead": None, "setup": [], "stdout": ""}
    answer["problem"] = None
    with _own(directory) as undo_file:
        programs = Programs(directory, plan.environment, plan.timeout_s)
        ended = threading.Event()
        threading.Thread(target=_listen, args=(programs, listened, ended), daemon=True).start()
        undone = _Undone(programs, undo_file)
        try:
            answer["overhead"] = overhead(programs)
            for name, text in plan.files.items():
                (directory / name).parent.mkdir(parents=True, exist_ok=True)
                (directory / name).write_text(text, encoding="utf-8")
            for step in plan.setup:
                answer["setup"].append(undone.do(step))
            set_up = undone.mark()
            for measured in [plan.measured] * plan.runs if plan.measured else []:
                _one_run(plan, measured, programs, undone, answer)
                undone.back_to(set_up)
        except (HostSideError, OSError) as error:
            answer["problem"] = str(error)
        finally:
            # from here on nobody has to listen
            ended.set()
            programs.unheard = False
            undone.back_to(0)
            left = remains(programs, plan.left) if undone.anything else None
            if left is None:
                _remove_directory(directory)
        answer.update(clean=left is None, problem=answer["problem"] or left)
        answer.update(ended=time.time(), monotonic=time.monotonic())
    return answer


def _one_run(plan: Plan, measured: Step, programs: Programs, undone: _Undone, answer: dict[str, Any]) -> None:
    for step in plan.prepare:
        undone.do(step)
    undone.note(measured)
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


def _prove(plan: Plan, words: str, programs: Programs, ran: Ran, numbers: dict[str, float]) -> None:
    """Whether the program did its work; what its output tells goes to *numbers*.

    :raises HostSideError: when it did not.
    """
    said = (ran.stderr or ran.stdout).strip()[-2000:]
    if ran.exit_code != 0:
        raise HostSideError(f"{words} ended with {ran.exit_code}: {said}")
    if ran.took_s < plan.least_s:
        raise HostSideError(
            f"{words} ended after {ran.took_s:.3f} s, but takes {plan.least_s:g} s at least if it does its work: {said}"
        )
    for name, expression in plan.numbers.items():
        found = re.search(expression, ran.stdout, re.MULTILINE)
        if not found:
            raise HostSideError(f"the output of {words} has no {name}: {said}")
        numbers[name] = float(found.group(1))
        if numbers[name] <= 0:
            raise HostSideError(f"{words} says that {name} is {found.group(1)}, so it did nothing")
    for proof in plan.proof:
        searched = ran.stdout if proof.program is None else programs.must(proof.program).stdout
        if not re.search(proof.output, searched, re.MULTILINE):
            where = words if proof.program is None else " ".join(proof.program)
            raise HostSideError(
                f"{words} did not do its work: {where} says {searched.strip()[-500:]!r}, not {proof.output}"
            )


class _Undone:
    """What was done and is to be undone, on disk before it is done."""

    def __init__(self, programs: Programs, path: Path) -> None:
        self._programs, self._path = programs, path
        self._steps: list[Argv] = []
        self.anything = False

    def do(self, step: Step) -> str:
        """What the program of *step* said; nothing if it was not needed."""
        if step.unless is not None and self._programs.run(step.unless).exit_code == 0:
            return ""
        self.note(step)
        deadline = time.monotonic() + step.within_s
        while time.monotonic() < deadline:
            ran = self._programs.run(step.program)
            if ran.exit_code == 0:
                return ran.stdout
            time.sleep(_TRY_AGAIN_S)
        return self._programs.must(step.program).stdout

    def note(self, step: Step) -> None:
        if step.undo is not None:
            self._steps.append(step.undo)
            self.anything = True
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(list(step.undo)) + "\n")

    def mark(self) -> int:
        return len(self._steps)

    def back_to(self, mark: int) -> None:
        """Undo the newest first; whether all is gone is asked afterwards."""
        while len(self._steps) > mark:
            with contextlib.suppress(HostSideError):
                self._programs.run(self._steps[-1])
            self._steps.pop()


def overhead(programs: Programs) -> dict[str, Any]:
    """What the measuring itself costs: the times of a program that does nothing."""
    empty = shutil.which("true") or "true"
    times = [programs.must([empty]).took_s for _number in range(_EMPTY_RUNS)]
    return {"program": empty, "runs": len(times), "median_s": statistics.median(times), "max_s": max(times)}


def remains(programs: Programs, left: Sequence[Argv]) -> str | None:
    """What the programs *left* still find, as a sentence."""
    for argv in left:
        try:
            found = programs.must(argv).stdout.strip()
        except HostSideError as problem:
            return f"cannot find out whether something is left: {problem}"
        if found:
            return f"{' '.join(argv)} still finds {found[-500:]}"
    return None


def remove(directory: str, environment: Mapping[str, str], left: Sequence[Argv], patience_s: float) -> str | None:
    """Undo what a measurement that was killed left, after its process has ended; what is still left, as a sentence."""
    path = Path(directory)
    if not path.is_dir():
        return None
    with (path / LOCK).open("a+", encoding="utf-8") as stream:
        _await_end(stream, patience_s)
        programs = Programs(path, environment, patience_s)
        undo_file = path / UNDO
        lines = undo_file.read_text(encoding="utf-8").splitlines() if undo_file.exists() else []
        for line in reversed(lines):
            # what was written when the power went may be half a line
            with contextlib.suppress(ValueError, HostSideError):
                programs.run(json.loads(line))
        programs.kill_left()
        found = remains(programs, left) if lines else None
        if found is None:
            _remove_directory(path)
    return found


def _await_end(stream: Any, patience_s: float) -> None:
    """Wait for the process that holds the lock, and kill it when it takes too long: its ID stands in the file."""
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
            # who holds the lock is alive, so the ID is nobody else's
            os.kill(int(stream.read()), signal.SIGKILL)
            killed = True
        time.sleep(_LOCK_POLL_S)


@contextlib.contextmanager
def _own(directory: Path) -> Iterator[Path]:
    """The directory of this process, locked as long as it works; the file of what is to be undone."""
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
        # the process that was waited for removed it at its own end
        return
    except OSError as error:
        raise HostSideError(f"cannot remove {directory}: {error.strerror}") from error
    with contextlib.suppress(OSError):
        # others may be at work
        directory.parent.rmdir()


def _listen(programs: Programs, listened: Callable[[], bool], ended: threading.Event) -> None:
    while not ended.wait(1.0):
        if not listened():
            programs.unheard = True
            programs.kill()
            return
