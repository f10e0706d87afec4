"""Damage an input repeatedly, read it, and record what ended other than with a named error."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from perfanalysis.__main__ import INTERNAL_ERROR, run

from tests.fuzz.mutations import mutate
from tests.fuzz.targets import INPUT, SCRATCH, TARGETS

THOUSAND = 1000
MOST_CPU_S = 30
FILES = re.compile(r"\{input:(?P<pattern>[^}]+)\}")
NAMED = (0, 2, 4, 5, 6)
"""Ok, usage or settings, a threshold missed, data quality, too little history."""


@dataclass
class Outcome:
    """The outcome of the damages to one kind of input."""

    codes: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def fuzz(name: str, count: int, seed: int, *, first: int = 0) -> Outcome:
    """Damage an input `count` times; the damage of a given number is reproducible."""
    target = TARGETS[name]
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        pristine = Path(folder) / "pristine"
        pristine.mkdir()
        target.make(pristine)
        for number in range(first, first + count):
            place = Path(folder) / "damaged"
            shutil.copytree(pristine, place / INPUT, symlinks=True)
            (place / SCRATCH).mkdir()
            chance = random.Random(f"{seed} {name} {number}")
            damage = "; ".join(mutate(place / INPUT, chance) for _ in range(chance.choice((1, 1, 1, 2, 4))))
            if target.repair is not None and chance.random() < 0.7:
                target.repair(place / INPUT)
            words = _words(chance.choice(target.commands), place)
            code, error = answer(words)
            outcome.codes[code] += 1
            problem = _problem(code, error) or _broken(place)
            if problem:
                command = " ".join(words).replace(str(place), "")
                outcome.failures.append(f"{name} {number} [{damage}] {command}: {problem}")
            shutil.rmtree(place)
    return outcome


def _words(command: str, place: Path) -> list[str]:
    words: list[str] = []
    for word in command.split():
        files = FILES.fullmatch(word)
        if files:
            found = sorted(path for path in (place / INPUT).glob(files["pattern"]) if path.suffix != ".yml")
            words += [str(path) for path in found] or [str(place / "nothing")]
        else:
            words.append(word.format(input=place / INPUT, scratch=place / SCRATCH))
    return words


class Endless(BaseException):
    """A command that does not end; programs do not catch this error."""


def _stop(_signal: int, _frame: object) -> None:
    raise Endless(f"not done after {MOST_CPU_S} s of CPU")


@contextlib.contextmanager
def limit_cpu() -> Iterator[None]:
    """Raise `Endless` after this much CPU time, independent of the load of the machine."""
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def answer(words: list[str]) -> tuple[int, str]:
    """Run a command in this process; return its exit code and its stderr; warnings are errors."""
    error = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(error):
        warnings.simplefilter("error")
        try:
            with limit_cpu():
                code = run([*words, "--debug"])
        except BaseException as raised:  # also what run() itself does not catch
            return -1, "".join(traceback.format_exception(raised))
    return code, error.getvalue()


def _problem(code: int, error: str) -> str:
    """Return why an outcome is not acceptable for a user; empty if it is."""
    if code in (INTERNAL_ERROR, -1):
        frames = re.findall(r'File "[^"]*/(perfanalysis/[^"]+)", line (\d+)', error)
        at = f" at {frames[-1][0]}:{frames[-1][1]}" if frames else ""
        return f"{error.strip().splitlines()[-1]}{at}"
    if code not in NAMED:
        return f"exit code {code}: {error.strip()[-300:]}"
    if code != 0 and not re.search(r"(?m)^Error: .+|^Usage: ", error) and code not in (4, 6):
        return f"exit code {code} without a sentence"
    return ""


def _broken(place: Path) -> str:
    """Return why written JSON is invalid (NaN, torn, partial); empty if all is valid."""
    for path in (place / INPUT / "run").rglob("report/*.json"):
        try:
            json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
        except ValueError as error:
            return f"{path.name} was written, but is not valid JSON: {error}"
    partial = [path.name for path in place.rglob(".*.partial")]
    return f"{partial[0]} was left behind" if partial else ""


def _refuse(constant: str) -> float:
    raise ValueError(f"it has {constant}")


def shares(total: int) -> Iterator[tuple[str, int]]:
    """Yield the number of damages to each kind of input, for a total number."""
    whole = sum(target.share for target in TARGETS.values())
    for name, target in TARGETS.items():
        yield name, max(1, round(total * target.share / whole))


def main() -> None:
    """`python -m tests.fuzz.harness NAME NUMBER [SEED]`: repeat one damage, and print its outcome."""
    name, number = sys.argv[1], int(sys.argv[2])
    outcome = fuzz(name, 1, int(sys.argv[3]) if len(sys.argv) > 3 else 1, first=number)
    sys.stdout.write("\n".join(outcome.failures) or f"{dict(outcome.codes)}\n")


if __name__ == "__main__":
    main()
