"""Environments of load generators in the user's cache, one for each version."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import Installation

_COMPLETE = ".complete"
_LAST_LINES = 3
_SECONDS_BETWEEN_LINES = 5.0
# pip prints nothing until it has written all packages, a minute or more
_LONG_STEP = "Installing collected packages"


class Installable(Protocol):
    """A program with a dedicated environment: a load generator or an evaluator."""

    @property
    def name(self) -> str:
        """Its name in commands."""

    @property
    def program(self) -> str:
        """Its program in the folder `bin` of its environment."""

    @property
    def installation(self) -> Installation | None:
        """Its installation; None if the user has to name its program."""


def environments_folder() -> Path:
    """Return the folder of all environments."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "psap-perf" / "generators"


def environment(generator: Installable) -> Path:
    """Return the folder of a generator's environment, whether it exists or not."""
    return environments_folder() / f"{generator.name}-{_installation(generator).version}"


def is_installed(generator: Installable) -> bool:
    """Return whether the generator's environment is complete."""
    return generator.installation is not None and (environment(generator) / _COMPLETE).exists()


def program_of(generator: Installable, program: str) -> str:
    """Return the path of the generator's program.

    Args:
        program: The path that the user set; empty for the installed program.

    Raises:
        UsageError: If the generator is not installed.
    """
    if program:
        return str(Path(program).expanduser())
    if generator.installation is None:
        return _find_program(generator)
    if not is_installed(generator):
        raise UsageError(
            f"{generator.name} {generator.installation.version} is not installed; run: perfdrv generators install "
            f"{generator.name}, which needs {_cost(generator.installation)}"
        )
    return str(environment(generator) / "bin" / generator.program)


def _find_program(generator: Installable) -> str:
    """Return the path of a program that is installed beside this Python, or is in the PATH."""
    places = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    found = shutil.which(generator.program, path=places)
    if found is None:
        raise UsageError(
            f"cannot find the program {generator.program} of {generator.name} in the PATH; set the path of its program"
        )
    return found


def install(generator: Installable, print_line: Callable[[str], None]) -> Path:
    """Install the generator, unless it is installed, and return the folder of its environment.

    Args:
        print_line: Called with each line for the user.

    Raises:
        UsageError: If it has no package, or its Python is missing.
        PerfError: If pip fails; an incomplete environment is removed.
    """
    wanted, folder = _installation(generator), environment(generator)
    if is_installed(generator):
        print_line(f"{generator.name} {wanted.version} is installed in {folder}")
        return folder
    python = _find_python(generator.name, wanted.pythons)
    print_line(f"installing {generator.name} {wanted.version} for {python}: {_cost(wanted)}")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _run((python, "-m", "venv", str(folder)), print_line)
        pip = (str(folder / "bin/python"), "-m", "pip", "install", "--no-input", "--disable-pip-version-check")
        _run((*pip, *wanted.requirements), print_line)
        (folder / _COMPLETE).touch()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    print_line(f"installed {generator.name} {wanted.version} in {folder}")
    return folder


def remove(generator: Installable) -> bool:
    """Remove the generator's environment, and return whether it existed."""
    folder = environment(generator)
    exists = folder.exists()
    if exists:
        shutil.rmtree(folder)
    return exists


def _find_python(name: str, versions: Sequence[str]) -> str:
    """Return an interpreter of one of *versions*: this process's, or the first one in the PATH that runs."""
    if ".".join(map(str, sys.version_info[:2])) in versions:
        return sys.executable
    for version in versions:
        found = shutil.which(f"python{version}")
        # a wrapper of pyenv is in the PATH even if it runs no Python
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:  # noqa: S603
            return found
    raise UsageError(
        f"{name} needs Python {' or '.join(versions)}; install one, so that python{versions[-1]} is in the PATH"
    )


def _run(words: Sequence[str], print_line: Callable[[str], None]) -> None:
    """Run pip or another program; from time to time print the first words of its line, such as a package's name."""
    started = printed = time.monotonic()
    tail: deque[str] = deque(maxlen=_LAST_LINES)
    with subprocess.Popen(  # noqa: S603
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            tail.append(line.strip())
            now = time.monotonic()
            if line.startswith(_LONG_STEP) or (
                line.startswith("Collecting") and now - printed > _SECONDS_BETWEEN_LINES
            ):
                printed = now
                print_line(f"{' '.join(line.split()[:3]).rstrip(':')} … {now - started:.0f} s")
    if process.returncode:
        raise PerfError(f"{' '.join(words[:4])} failed: {'; '.join(tail)}")


def _installation(generator: Installable) -> Installation:
    if generator.installation is None:
        raise UsageError(
            f"perfdrv cannot install {generator.name}; put its program {generator.program} in the PATH or set its path"
        )
    return generator.installation


def _cost(installation: Installation) -> str:
    return f"{installation.gigabytes:g} GB and about {installation.minutes:g} min"
