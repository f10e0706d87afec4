"""Environments of load generators in the user's cache, one for each version."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import Generator, Installation

_COMPLETE = ".complete"


def environments_folder() -> Path:
    """Return the folder of all environments."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "psap-perf" / "generators"


def environment(generator: Generator) -> Path:
    """Return the folder of a generator's environment, whether it exists or not."""
    return environments_folder() / f"{generator.name}-{_installation(generator).version}"


def is_installed(generator: Generator) -> bool:
    """Return whether the generator's environment is complete."""
    return generator.installation is not None and (environment(generator) / _COMPLETE).exists()


def program_of(generator: Generator, program: str) -> str:
    """Return the path of the generator's program.

    Args:
        program: The path that the user set; empty for the installed program.

    Raises:
        UsageError: If the generator is not installed.
    """
    if program:
        return str(Path(program).expanduser())
    if generator.installation is None:
        raise UsageError(f"{generator.name} has no package on PyPI; set the path of its program")
    if not is_installed(generator):
        raise UsageError(
            f"{generator.name} {generator.installation.version} is not installed; run: perfdrv generators install "
            f"{generator.name}, which needs {_cost(generator.installation)}"
        )
    return str(environment(generator) / "bin" / generator.program)


def install(generator: Generator, print_line: Callable[[str], None]) -> Path:
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
    python = shutil.which(f"python{wanted.python}")
    if python is None:
        raise UsageError(
            f"{generator.name} needs Python {wanted.python}; install it, so that python{wanted.python} is in the PATH"
        )
    print_line(f"installing {generator.name} {wanted.version}: {_cost(wanted)}")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _run(python, "-m", "venv", str(folder))
        _run(
            str(folder / "bin/python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *wanted.requirements,
        )
        (folder / _COMPLETE).touch()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    print_line(f"installed {generator.name} {wanted.version} in {folder}")
    return folder


def remove(generator: Generator) -> bool:
    """Remove the generator's environment, and return whether it existed."""
    folder = environment(generator)
    exists = folder.exists()
    if exists:
        shutil.rmtree(folder)
    return exists


def _run(*words: str) -> None:
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        last = "; ".join((done.stderr or done.stdout).strip().splitlines()[-3:])
        raise PerfError(f"{' '.join(words[:4])} failed: {last}")


def _installation(generator: Generator) -> Installation:
    if generator.installation is None:
        raise UsageError(f"{generator.name} has no package on PyPI; set the path of its program")
    return generator.installation


def _cost(installation: Installation) -> str:
    return f"{installation.gigabytes:g} GB and about {installation.minutes:g} min"
