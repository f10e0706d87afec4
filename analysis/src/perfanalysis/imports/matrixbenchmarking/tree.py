"""A result tree of MatrixBenchmarking: its tests, their settings, and values."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.errors import UsageError
from perfanalysis.files.bounded_yaml import TOO_DEEP
from perfanalysis.files.documents import load_yaml
from perfanalysis.files.findings import Finding

LARGEST_FILE = 10_000_000
"""Bytes of the largest file of settings."""


def read_yaml(path: Path) -> Any:
    """Return the plain value of a YAML file. Raises ValueError or OSError with the reason."""
    with path.open("rb") as stream:
        content = stream.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ValueError(f"it is larger than {LARGEST_FILE // 10**6} MB")
    return plain(load_yaml(content.decode("utf-8")))


def plain(value: Any) -> Any:
    """Return a value in the types of JSON: no dates, sets, infinite numbers, or text that UTF-8 cannot encode.

    Raises ValueError if it is nested too deeply.
    """
    try:
        return _plain(value)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_text(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float) else _text(value)


def _text(value: Any) -> str:
    return str(value).encode("utf-8", "replace").decode()


def present(folder: Path, names: Iterable[str]) -> dict[str, Path]:
    """Return the files that exist below a directory, by name."""
    return {name: folder / name for name in names if (folder / name).is_file()}


MARKS = ("settings.yaml", "settings.yml", "settings")
"""Files that mark their directory as a test; other files `settings.*` only add to tests below them."""
OLD = "settings"
REPETITION = "@"
"""The prefix of settings that only count repetitions of a test."""
IN_NO_KEY = "stats"
_SPLIT = re.compile(r"(?<!\\):")


def is_settings(name: str) -> bool:
    """Return whether a file of this name has settings."""
    return name == OLD or (name.startswith("settings.") and name.endswith((".yaml", ".yml")))


def read_settings(path: Path) -> dict[str, Any]:
    """Return the settings of one file. Raises ValueError or OSError with the reason."""
    if path.name == OLD:
        return _old(path.read_text(encoding="utf-8", errors="replace"))
    found = read_yaml(path)
    if not isinstance(found, dict | None):
        raise ValueError("it does not contain a mapping of settings")
    return found or {}


def _old(text: str) -> dict[str, Any]:
    """Return lines `key=value`, with values as in YAML: `count=4` is the same as `count: 4`."""
    settings = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith("#"):
            settings[name.strip()] = _scalar(value.strip())
    return settings


def _scalar(text: str) -> Any:
    try:
        value = load_yaml(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text


def key_of(settings: Mapping[str, Any]) -> str:
    """Return what must differ between two tests of a tree."""
    return "|".join(f"{name}={settings[name]}" for name in sorted(settings) if name != IN_NO_KEY)


@dataclass(frozen=True)
class Filter:
    """A setting and its accepted values, as text."""

    name: str
    values: frozenset[str]

    def takes(self, settings: Mapping[str, Any]) -> bool:
        """Return whether a test matches."""
        return self.name in settings and str(settings[self.name]) in self.values


def filters_of(texts: Iterable[str]) -> tuple[Filter, ...]:
    r"""Parse filters such as `key=a:b,other=c`; a colon in a value is written `\:`. Raises UsageError."""
    found = []
    for part in (part for text in texts for part in text.split(",") if part.strip()):
        name, equals, values = part.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--filter {part!r}: write a setting and its values, such as model=tiny:small")
        found.append(Filter(name.strip(), frozenset(value.replace("\\:", ":") for value in _SPLIT.split(values))))
    return tuple(found)


SKIP, EXIT_CODE = "skip", "exit_code"


@dataclass(frozen=True)
class Test:
    """A test: its directory, its name below the tree, its settings, and why it failed or did not end."""

    directory: Path
    name: str
    settings: dict[str, Any]
    error: str | None
    ended: bool
    """Whether it has an exit code; files of a test without one are not results."""


@dataclass(frozen=True)
class Tree:
    """The tests of a tree, sorted by name, and findings."""

    tests: tuple[Test, ...]
    findings: tuple[Finding, ...]


def read_tree(root: Path, filters: tuple[Filter, ...] = ()) -> Tree:
    """Read a tree. Settings of the directories above it count too, up to the root of the file system.

    Directories with a file `skip` are left out, directories below a test belong to it, symbolic links are followed
    once. Of two tests with the same settings, the first by name is used. Raises UsageError for a tree without tests.
    """
    if not root.is_dir():
        raise UsageError(f"{root} is not a directory; pass a result tree of MatrixBenchmarking")
    if (root / "run.json").is_file():
        raise UsageError(f"{root} is already a run directory of psap.perf; pass it to report, compare or history")
    finder = _Finder(root.resolve())
    tests = [test for test in finder.tests() if all(each.takes(test.settings) for each in filters)]
    if not tests:
        among = " that matches the filters" if filters else ""
        raise UsageError(
            f"{root} contains no test{among}: no directory with its settings and one of {', '.join(MARKS)}"
        )
    findings = list(finder.findings)
    first: dict[str, Test] = {}
    for test in sorted(tests, key=lambda test: test.name):
        known = first.setdefault(key_of(test.settings), test)
        if known is not test:
            text = f"left out: it has the same settings as {known.name}; repetitions need a setting @… that differs"
            findings.append(Finding("warning", test.name, text))
    return Tree(tuple(first.values()), tuple(findings))


class _Finder:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.findings: list[Finding] = []
        self.files: dict[Path, dict[str, Any]] = {}
        self.seen: set[Path] = set()

    def _find(self, path: Path, text: str) -> None:
        self.findings.append(Finding("warning", self._name(path), text))

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    def tests(self) -> Iterator[Test]:
        for folder, folders, files in os.walk(self.root, followlinks=True):
            path = Path(folder)
            if path.resolve() in self.seen:
                folders.clear()
                continue
            self.seen.add(path.resolve())
            if SKIP in files:
                self._find(path, "left out, as its file skip requests")
                folders.clear()
            elif any(mark in files for mark in MARKS):
                folders.clear()
                yield self._test(path)
            folders.sort()

    def _test(self, path: Path) -> Test:
        name = self._name(path) if path != self.root else path.name
        error, ended = _end(path)
        if error is not None:
            self._find(path, error)
        return Test(path, name, self._settings(path), error, ended)

    def _settings(self, path: Path) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for folder in (*reversed(path.parents), path):
            merged |= self._of_folder(folder)
        return merged

    def _of_folder(self, folder: Path) -> dict[str, Any]:
        """Return the settings in one directory, which are read once."""
        if folder not in self.files:
            self.files[folder] = {}
            for name in sorted(_names(folder), key=lambda name: (name in MARKS, name)):
                self.files[folder] |= self._of_file(folder / name)
        return self.files[folder]

    def _of_file(self, path: Path) -> dict[str, Any]:
        try:
            settings = read_settings(path)
        except (OSError, ValueError) as error:
            self._find(path, f"its settings were left out: {error}")
            return {}
        if settings and not path.is_relative_to(self.root):
            self.findings.append(
                Finding("note", str(path), "its settings were left out: they are above the tree and apply to all tests")
            )
        return settings


def _names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries if is_settings(entry.name) and entry.is_file())
    except OSError:
        return


def _end(path: Path) -> tuple[str | None, bool]:
    """Return why a test failed, None if it did not; and whether it ended."""
    try:
        text = (path / EXIT_CODE).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return "it has no exit_code: the test did not end", False
    except OSError as error:
        return f"its exit_code cannot be read: {error}", False
    if not text.lstrip("-").isdecimal():
        return f"its exit_code {text[:20]!r} is not a number: the test did not end", False
    return (None, True) if int(text[:20]) == 0 else (f"exit code {text[:20]}", True)
