"""The origin of a run, for run.json: versions, the project's commit, the command line without values."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_PACKAGES = ("ansible-core", "kubernetes", "psap-perf")
_GIT_TIMEOUT_S = 5
# options of ansible-playbook and of the driver
_SETTING_OPTIONS = ("-e", "--extra-vars", "-s", "--set")


def start_facts(
    *,
    flow: str,
    check: bool,
    tags: Sequence[str],
    skip_tags: Sequence[str],
    site: str | None,
    argv: Sequence[str],
    git: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the fields of run.json that are known when an attempt begins.

    Args:
        argv: The command line; the values of settings in it are replaced.
        git: The commit of the project, as ``git_state`` returns it.
    """
    return {
        "flow": flow,
        "check": check,
        "tags": {"run": list(tags), "skip": list(skip_tags)},
        "site": site,
        "argv": command_line(argv),
        "versions": versions(),
        "git": git,
    }


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of packages that affect a run; None for a package that is not installed."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def git_state(project: Path) -> dict[str, Any] | None:
    """Return ``{commit, dirty}`` of the project's checkout, or None outside one."""
    commit = _git(project, "rev-parse", "HEAD")
    if commit is None:
        return None
    return {"commit": commit, "dirty": bool(_git(project, "status", "--porcelain", "--untracked-files=no"))}


def _git(project: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed words
            ["git", "-C", str(project), *words],  # noqa: S607 - the user's git
            capture_output=True,
            text=True,
            timeout=_GIT_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def command_line(words: Sequence[str]) -> list[str]:
    """Return *words* for an artifact: settings and extra vars with their file or name, never with their values."""
    return list(_without_values(iter(words)))


def _without_values(words: Iterator[str]) -> Iterator[str]:
    for word in words:
        option, equals, value = word.partition("=")
        if word in _SETTING_OPTIONS:
            yield word
            yield _named(next(words, ""))
        elif equals and option in _SETTING_OPTIONS[1::2]:
            yield f"{option}={_named(value)}"
        elif word[:2] in _SETTING_OPTIONS[::2]:
            yield f"{word[:2]}{_named(word[2:])}"
        else:
            yield word


def _named(value: str) -> str:
    if value.startswith("@"):
        return value
    name, equals, _value = value.partition("=")
    return f"{name}=…" if equals and name.isidentifier() else "…"
