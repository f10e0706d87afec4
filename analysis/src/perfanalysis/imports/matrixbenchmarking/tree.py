"""Find the tests of a result tree: directories that hold settings, however deep."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.errors import UsageError
from perfanalysis.files.findings import Finding
from perfanalysis.imports.matrixbenchmarking.settings import MARKS, Filter, is_settings, key_of, read_settings

SKIP, EXIT_CODE = "skip", "exit_code"


@dataclass(frozen=True)
class Test:
    """A test: its directory, its name below the tree, its settings, and why it failed or did not end."""

    directory: Path
    name: str
    settings: dict[str, Any]
    error: str | None
    ended: bool
    """Whether it left an exit code; what is there of one that did not is not taken for a result."""


@dataclass(frozen=True)
class Tree:
    """The tests of a tree, sorted by name, and what was left out or is wrong."""

    tests: tuple[Test, ...]
    findings: tuple[Finding, ...]


def read_tree(root: Path, filters: tuple[Filter, ...] = ()) -> Tree:
    """Read a tree. Settings of the directories above it count too, up to the file system's root.

    Directories with a file `skip` are passed over, those below a test are a part of it, symbolic links are followed
    once. Of two tests with the same settings the first by name counts. Raises UsageError for a tree without tests.
    """
    if not root.is_dir():
        raise UsageError(f"{root} is not a directory; give a result tree of MatrixBenchmarking")
    if (root / "run.json").is_file():
        raise UsageError(
            f"{root} is a run directory of psap.perf already; report, compare and history take it as it is"
        )
    finder = _Finder(root.resolve())
    tests = [test for test in finder.tests() if all(each.takes(test.settings) for each in filters)]
    if not tests:
        among = " that the filters let through" if filters else ""
        raise UsageError(f"{root} holds no test{among}: no directory with one of {', '.join(MARKS)} and its settings")
    findings = list(finder.findings)
    first: dict[str, Test] = {}
    for test in sorted(tests, key=lambda test: test.name):
        known = first.setdefault(key_of(test.settings), test)
        if known is not test:
            text = f"it has the same settings as {known.name} and was left out; a repetition needs a setting @… too"
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
                self._find(path, "left out, as its file skip says")
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
        """The settings that stand in one directory; each is read once."""
        if folder not in self.files:
            self.files[folder] = {}
            for name in sorted(_names(folder), key=lambda name: (name in MARKS, name)):
                self.files[folder] |= self._of_file(folder / name)
        return self.files[folder]

    def _of_file(self, path: Path) -> dict[str, Any]:
        try:
            settings = read_settings(path)
        except (OSError, ValueError) as error:
            self._find(path, f"its settings are left out: {error}")
            return {}
        if settings and not path.is_relative_to(self.root):
            self.findings.append(Finding("note", str(path), "its settings hold for all: it stands above the tree"))
        return settings


def _names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from (entry.name for entry in entries if is_settings(entry.name) and entry.is_file())
    except OSError:
        return


def _end(path: Path) -> tuple[str | None, bool]:
    """Why a test failed, None when it did not; and whether it ended."""
    try:
        text = (path / EXIT_CODE).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return "it has no exit_code: the test did not end", False
    except OSError as error:
        return f"its exit_code cannot be read: {error}", False
    if not text.lstrip("-").isdecimal():
        return f"its exit_code {text[:20]!r} is no number: the test did not end", False
    return (None, True) if int(text[:20]) == 0 else (f"exit code {text[:20]}", True)
