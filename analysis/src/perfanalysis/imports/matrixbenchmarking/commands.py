"""A result tree of MatrixBenchmarking, as a run directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from perfanalysis.files.findings import Finding, print_findings
from perfanalysis.files.local_path import LocalPath
from perfanalysis.imports.matrixbenchmarking.artifacts import (
    Environment,
    Environments,
    fine_tuning_job,
    kubernetes_objects,
)
from perfanalysis.imports.matrixbenchmarking.tree import REPETITION, Filter, Test, filters_of, read_tree
from perfanalysis.imports.options import INTO
from perfanalysis.imports.run_directory import Imported, Recording, Setting, write_run_directory

TOOL = "matrixbenchmarking"
READERS = (fine_tuning_job, kubernetes_objects)
"""Readers of the recordings that a directory of a test may contain."""


@dataclass(frozen=True)
class Read:
    """The run to write, and findings about the tree."""

    imported: Imported
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class _Entry:
    test: Test
    recordings: tuple[Recording, ...]
    environment: Environment


def read_result_tree(root: Path, filters: tuple[Filter, ...] = ()) -> Read:
    """Read a tree. Settings and versions that are the same in all tests belong to the run, others to its cells.

    Raises UsageError for a tree without tests.
    """
    tree = read_tree(root, filters)
    environments = Environments()
    entries = [_entry(test, environments) for test in tree.tests]
    findings = [*tree.findings, *(finding for entry in entries for finding in _findings(entry))]
    values = [{**entry.test.settings, **entry.environment.versions} for entry in entries]
    common, varying = _common_and_varying(values)
    presets = dict.fromkeys(name for entry in entries for name in entry.environment.presets)
    versions = _common_and_varying([entry.environment.versions for entry in entries])[0]
    # runs are compared to judge versions: a version is not a key if all tests have it
    settings = {name: Setting(value) for name, value in common.items() if versions.get(name) != value}
    settings |= {"ci_presets": Setting(list(presets), key=False)} if presets else {}
    recordings = tuple(
        _recording(entry, (number, {name: value.get(name) for name in varying}) if len(entries) > 1 else None)
        for number, (entry, value) in enumerate(zip(entries, values, strict=True))
    )
    return Read(Imported(TOOL, root, TOOL, recordings, settings, versions), tuple(findings))


def _entry(test: Test, environments: Environments) -> _Entry:
    folders = dict(_folders(test.directory))
    environment = environments.of(path for paths in folders.values() for path in paths)
    read = (reader(folder, environment) for folder in folders for reader in READERS) if test.ended else ()
    return _Entry(test, tuple(recording for recording in read if recording is not None), environment)


def _folders(directory: Path) -> Iterator[tuple[Path, tuple[Path, ...]]]:
    """Yield every directory of a test with its files, sorted; symbolic links to directories are followed once."""
    seen = set()
    for folder, folders, files in os.walk(directory, followlinks=True):
        path = Path(folder)
        folders.sort()
        if path.resolve() in seen:
            folders.clear()
            continue
        seen.add(path.resolve())
        yield path, tuple(path / name for name in sorted(files))


def _findings(entry: _Entry) -> Iterator[Finding]:
    for recording in entry.recordings:
        for finding in recording.findings:
            yield replace(finding, where=f"{entry.test.name}/{recording.name}/{finding.where}")
    if entry.test.ended and not entry.recordings:
        text = "no known recording found: neither lists of pods and jobs nor a fine-tuning job"
        yield Finding("warning", entry.test.name, text)


def _common_and_varying(values: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """Return the values that all tests share, and the names of the others; missing ones are null."""
    names = list(dict.fromkeys(name for each in values for name in each))
    common = {}
    for name in names:
        same = all(name in each and each[name] == values[0][name] for each in values)
        if same and not name.startswith(REPETITION):
            common[name] = values[0][name]
    return common, [name for name in names if name not in common]


def _recording(entry: _Entry, cell: tuple[int, dict[str, Any]] | None) -> Recording:
    """Return the test as a part of the run; several recordings have separate directories."""
    alone = len(entry.recordings) == 1
    files = {
        name if alone else f"{place:03d}__{recording.name}/{name}": content
        for place, recording in enumerate(entry.recordings)
        for name, content in recording.files.items()
    }
    begun = [recording.started_s for recording in entry.recordings if recording.started_s is not None]
    ended = [recording.ended_s for recording in entry.recordings if recording.ended_s is not None]
    error = entry.test.error or next((each.error for each in entry.recordings if each.error), None)
    name = Path(entry.test.name).name
    return Recording(name, files, cell, min(begun, default=None), max(ended, default=None), error)


@click.command("matrixbenchmarking")
@click.argument("tree", type=LocalPath())
@INTO
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="KEY=A:B",
    help=(
        r"Import only tests whose setting has one of these values; repeatable, or separate by commas. Write a "
        r"colon as \:."
    ),
)
def import_matrixbenchmarking(tree: Path, into: Path | None, filters: tuple[str, ...]) -> None:
    """Create a run directory from TREE, a result tree of MatrixBenchmarking: one cell per test.

    It imports lists of Kubernetes objects (pods.json, jobs.json, pytorchjob.json …) and fine-tuning jobs from the
    directories of TOPSAIL's commands. A test without an exit code becomes a failed cell without a recording.
    """
    read = read_result_tree(tree, filters_of(filters))
    run = write_run_directory(read.imported, into)
    print_findings(read.findings)
    recorded = sum(bool(recording.files) for recording in read.imported.recordings)
    click.echo(f"{len(read.imported.recordings)} tests, {recorded} of them with a recording")
    click.echo(f"Run: {run}")
