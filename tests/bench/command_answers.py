"""The response times of the documented commands that compute nothing.

    python tests/bench/command_answers.py [WORD…]

Commands are read from the code blocks of README.md and docs/*.md. For a command that acts or computes, or that has a
placeholder without a value here, `--help` is measured. With words, only commands that contain all of them run. Prints
CPU and wall seconds, and at the end the commands that need more CPU than the aim, 1 s.
"""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from perfanalysis.cli import cli as perfanalysis
from perfdrv.cli import cli as perfdrv
from perfdrv.command_line.groups import Session
from perflab.cli import lab as perflab

PROJECT = Path(__file__).resolve().parents[2]
RUN = next((PROJECT / "tests/data/runs/v1").iterdir())
PROGRAMS: dict[str, click.Command] = {"perfdrv": perfdrv, "perfanalysis": perfanalysis, "perflab": perflab}
AIM_S = 1.0
# these run, write, send, wait, or compute: all other documented commands only answer
ACT = tuple(
    tuple(words.split())
    for words in (
        "perfdrv run", "perfdrv toolbox", "perfdrv quads", "perfdrv ci run", "perfdrv ci step", "perfdrv ci arguments",
        "perfdrv new", "perfdrv lock", "perfdrv report", "perfdrv export", "perfdrv notify", "perfdrv replot",
        "perfdrv runs finalize", "perfdrv runs open", "perfdrv settings check", "perfdrv lab", "perflab",
        "perfanalysis compare", "perfanalysis history add", "perfanalysis history export", "perfanalysis history merge",
        "perfanalysis history pull", "perfanalysis history push", "perfanalysis history show", "perfanalysis import",
        "perfanalysis judge", "perfanalysis kpi", "perfanalysis parse", "perfanalysis payload", "perfanalysis plotter",
        "perfanalysis regress", "perfanalysis report", "perfanalysis tables", "perfanalysis times-csv",
    )
)  # fmt: skip
ANSWERS = {"--help", "-h", "--show-args", "--list", "--print"}
_BLOCK = re.compile(r"^```(?:console|sh|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PLACEHOLDER = re.compile(r"[A-Z][A-Z_]+…?|.*[<>…\[\]{}].*|.*\.(?:yml|yaml|json|prom|csv)|s3://.*|https?://.*")


@dataclass(frozen=True, order=True)
class Answer:
    """The cost of a command: CPU and wall seconds, and its exit code."""

    cpu_s: float
    wall_s: float
    code: int
    words: tuple[str, ...]


def documented() -> set[tuple[str, ...]]:
    """Return every project command in a code block of the documentation, as words."""
    pages = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
    blocks = (block for page in pages for block in _BLOCK.findall(page.read_text(encoding="utf-8")))
    lines = (line for block in blocks for line in block.replace("\\\n", " ").splitlines())
    return {words for line in lines for words in _commands_in(line)}


def _commands_in(line: str) -> Iterator[tuple[str, ...]]:
    try:
        words = shlex.split(line.removeprefix("$ "), comments=True)
    except ValueError:
        # part of an output, or of a program
        return
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words = words[1:]
    if words and words[0] in PROGRAMS and not {"|", "&&", ";", ">"} & set(words):
        yield tuple(words)


def to_measure(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command to measure: as documented if it only answers, else its help."""
    values = {"RUN": RUN.name, "FLOW": "scale_test", "SITE": "lab", "NAME": "scale_test_count", "LEFT": "lab",
              "RIGHT": "scale_test_smoke", "GROUP": "nfd", "HISTORY": "."}  # fmt: skip
    given = tuple(values.get(word, word) for word in words)
    path = _path(given)
    acts = any(path[: len(one)] == one for one in ACT) and not ANSWERS & set(given)
    return (*path, "--help") if acts or any(_PLACEHOLDER.fullmatch(word) for word in given) else given


def _path(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the program and its commands, without options and arguments."""
    command, count = PROGRAMS[words[0]], 1
    context = click.Context(command, obj=Session(project=PROJECT))
    while isinstance(command, click.Group) and count < len(words):
        below = command.get_command(context, words[count])
        if below is None:
            break
        command, count = below, count + 1
        context = click.Context(command, parent=context)
    return words[:count]


def measured(words: tuple[str, ...], environment: dict[str, str]) -> Answer:
    """Run a command once in the project; return its cost."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    program = [sys.executable, "-m", *words]
    done = subprocess.run(program, cwd=PROJECT, env=environment, capture_output=True, stdin=subprocess.DEVNULL)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Answer(cpu, wall, done.returncode, words)


def main() -> int:
    """Measure every command once."""
    wanted = sys.argv[1:]
    commands = sorted({to_measure(words) for words in documented()})
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(RUN, Path(folder, RUN.name))
        environment = {**os.environ, "PERF_RUNS_DIR": folder}
        answers = [_print(measured(words, environment)) for words in commands if all(word in words for word in wanted)]
    above = [each for each in sorted(answers, reverse=True) if each.cpu_s > AIM_S]
    print(f"{len(answers)} commands, {len(above)} above {AIM_S:g} s of CPU{':' if above else ''}")
    for each in above:
        _print(each)
    return 0


def _print(each: Answer) -> Answer:
    figures = f"{each.cpu_s:6.2f} s CPU {each.wall_s:6.2f} s  exit {each.code:<3}"
    print(f"{figures} {shlex.join(each.words)}", flush=True)
    return each


if __name__ == "__main__":
    sys.exit(main())
