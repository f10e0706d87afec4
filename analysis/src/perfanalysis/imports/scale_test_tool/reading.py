"""Read a directory of the scale-test-tool, and account for its workloads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.files.findings import Finding
from perfanalysis.imports.scale_test_tool.records import (
    DELTAS,
    STAMPS,
    SUBMITTED,
    TIME_NAMES,
    Columns,
    parse_stamp,
    resolution,
)
from perfanalysis.imports.scale_test_tool.times_csv import read_times_csv
from perfanalysis.workloads.scale_test.milestones import STAMPED_CAUSES, Start

SUBMITTED_FILE = "submitted.json"
SAMPLED_FILE = "sampled.json"
TIMES_FILE = "times.csv"
SUBMIT_KEY = "submitTimestamp"
TEXT_KEYS = ("jobName", "jobNamespace", "projectName")
KEYS = (*TEXT_KEYS, *(stamp.key for stamp in STAMPS), SUBMIT_KEY)
ALWAYS_WRITTEN = STAMPS[:6]
"""Timestamps that the old sampler had of every workload it kept."""


@dataclass(frozen=True)
class WorkingDirectory:
    """The contents of a directory. `samples` is in the order of the file; orphans have no time of submission.

    `lost` are the submitted workloads that were never sampled, with their common reason; `files` maps the name of each
    file read to the SHA-256 of its contents.
    """

    directory: Path
    submitted: Columns
    samples: Columns
    lost_reason: str
    findings: tuple[Finding, ...]
    files: Mapping[str, str]

    @cached_property
    def columns(self) -> Columns:
        """Return every workload: the sampled ones in the order of the file, then the lost ones."""
        return self.samples.followed_by(self.lost_columns)

    @cached_property
    def lost_columns(self) -> Columns:
        """Return the submitted workloads that were never sampled."""
        seen = set(self.samples.keys)
        return self.submitted.take([place for place, key in enumerate(self.submitted.keys) if key not in seen])

    @property
    def orphans(self) -> NDArray[np.bool_]:
        """Return which sampled workloads were not submitted in this test; none if no submission is known."""
        return np.asarray(np.isnan(self.samples.time(SUBMITTED)) & (len(self.submitted) > 0))


def read_working_directory(directory: Path) -> WorkingDirectory:
    """Read the files. Without sampled.json, the rows of times.csv are used instead.

    Raises UsageError if the directory has no file of the scale-test-tool, and DataQualityError with file, record and
    key if a file does not have the tool's form.
    """
    paths = {name: directory / name for name in (SUBMITTED_FILE, SAMPLED_FILE, TIMES_FILE)}
    there = {name for name, path in paths.items() if path.is_file()}
    if not there:
        raise UsageError(
            f"{directory} contains none of {SUBMITTED_FILE}, {SAMPLED_FILE} and {TIMES_FILE}; pass the output "
            "directory of the scale-test-tool"
        )
    findings: list[Finding] = []
    sampled, reason = _sampled(paths, there, findings)
    submissions, twice = _submissions(paths, there, sampled)
    if twice:
        findings.append(
            Finding("warning", SUBMITTED_FILE, f"{twice} names were submitted twice: the last submission is used")
        )
    if SUBMITTED_FILE not in there:
        text = "the file is missing: only submissions of sampled workloads are known"
        findings.append(Finding("warning", SUBMITTED_FILE, text))
    samples = sampled.sent_as(submissions)
    orphans = int(np.isnan(samples.time(SUBMITTED)).sum()) if len(submissions) else 0
    if orphans:
        text = f"{orphans} workloads were sampled but not submitted in this test; they are not counted"
        findings.append(Finding("note", SAMPLED_FILE, text))
    files = {name: _digest(paths[name]) for name in sorted(there)}
    return WorkingDirectory(directory, submissions, samples, reason, tuple(findings), files)


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sampled(paths: Mapping[str, Path], there: set[str], findings: list[Finding]) -> tuple[Columns, str]:
    """Return the sampled workloads, and why other submitted ones are missing."""
    if SAMPLED_FILE in there:
        found = _columns(paths[SAMPLED_FILE], tuple(stamp.key for stamp in STAMPS))
        for stamp in ALWAYS_WRITTEN:
            missing = int(np.isnan(found.time(stamp.name)).sum())
            if missing:
                findings.append(Finding("warning", SAMPLED_FILE, f"{missing} records have no {stamp.key}"))
        reason = "never sampled: the sampler skips workloads with incomplete data"
        return found.without_stand_ins().last_of_each(), reason
    if TIMES_FILE in there:
        text = f"the file is missing: the rows of {TIMES_FILE} are used instead"
        findings.append(Finding("warning", SAMPLED_FILE, text))
        return read_times_csv(paths[TIMES_FILE]), f"not in {TIMES_FILE}: the plotter leaves out implausible rows"
    findings.append(Finding("warning", SAMPLED_FILE, "the file is missing: only the submissions are known"))
    return Columns((), (), (), np.empty((len(TIME_NAMES), 0))), f"there is no {SAMPLED_FILE}"


def _submissions(paths: Mapping[str, Path], there: set[str], sampled: Columns) -> tuple[Columns, int]:
    """Return submitted workloads in order, and how many more reused a name."""
    if SUBMITTED_FILE not in there:
        known = read_times_csv(paths[TIMES_FILE]) if TIMES_FILE in there else sampled
        return known.take(np.flatnonzero(np.isfinite(known.time(SUBMITTED)))), 0
    path = paths[SUBMITTED_FILE]
    found = _columns(path, (SUBMIT_KEY,))
    nameless = np.flatnonzero(np.isnan(found.time(SUBMITTED)))
    if len(nameless):
        first = int(nameless[0])
        raise DataQualityError(f"{path}: record {first + 1} ({found.names[first]}) has no {SUBMIT_KEY}")
    once = found.last_of_each()
    return once, len(found) - len(once)


def _columns(path: Path, stamps: tuple[str, ...]) -> Columns:
    """Return the records of a file with the times of these keys; other keys are ignored."""
    rows = _rows(path)
    texts = [_texts(path, rows, place) for place in range(len(TEXT_KEYS))]
    known: dict[Any, float] = {None: np.nan}
    missing = np.full(len(rows), np.nan)
    times = [
        _times(path, rows, KEYS.index(key), known) if key in stamps else missing
        for key in (*(stamp.key for stamp in STAMPS), SUBMIT_KEY)
    ]
    return Columns(texts[0], texts[1], texts[2], np.array(times).reshape(len(TIME_NAMES), len(rows)))


def _rows(path: Path) -> list[tuple[Any, ...]]:
    """Return the records of a file, each as the values of KEYS. Built while reading: mappings need three times the
    memory.
    """
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"), object_hook=lambda item: tuple(map(item.get, KEYS)))
    except (OSError, ValueError, RecursionError) as error:
        raise DataQualityError(f"cannot read {path}: {error}") from error
    if not isinstance(loaded, list):
        raise DataQualityError(f"{path} does not contain a list of workloads")
    wrong = next((number for number, item in enumerate(loaded, 1) if not isinstance(item, tuple)), None)
    if wrong is not None:
        raise DataQualityError(f"{path}: record {wrong} is not an object")
    return loaded


def _texts(path: Path, rows: list[tuple[Any, ...]], place: int) -> list[str]:
    found = [row[place] for row in rows]
    wrong = next((number for number, text in enumerate(found, 1) if not isinstance(text, str)), None)
    if wrong is not None:
        raise DataQualityError(f"{path}: record {wrong} has no {KEYS[place]}")
    return found


def _times(path: Path, rows: list[tuple[Any, ...]], place: int, known: dict[Any, float]) -> NDArray[np.float64]:
    """Return the times of one key, NaN if missing. `known` caches parsed times: whole seconds repeat."""
    stamps = [row[place] for row in rows]
    try:
        known |= {stamp: parse_stamp(stamp) for stamp in set(stamps) - known.keys()}
    except (ValueError, TypeError):
        _name_the_wrong_one(path, rows, place)
    return np.array([known[stamp] for stamp in stamps], dtype=float)


def _name_the_wrong_one(path: Path, rows: list[tuple[Any, ...]], place: int) -> None:
    """Raise the error of the first record whose timestamp cannot be read."""
    for number, row in enumerate(rows, 1):
        try:
            if row[place] is not None:
                parse_stamp(row[place])
        except ValueError as error:
            raise DataQualityError(f"{path}: record {number} ({row[0]}): {KEYS[place]}: {error}") from error


STARTS: Mapping[str, Start] = {SUBMITTED: "client", "first_pod_created": "pod", "last_pod_created": "pod"}
"""Starts of differences that are not timestamps of another object."""


@dataclass(frozen=True)
class Accounts:
    """The results of the submitted workloads; `left_out` counts those not analysed, by reason."""

    submitted: int
    analysed: int
    never_sampled: int
    left_out: Mapping[str, int]

    @property
    def identity_holds(self) -> bool:
        """Return whether every submitted workload is in exactly one place."""
        return self.submitted == self.analysed + self.never_sampled + sum(self.left_out.values())

    @property
    def lost_ratio(self) -> float:
        """Return the share of the submitted workloads that was never sampled or left out; 0 if none was submitted."""
        return 1 - self.analysed / self.submitted if self.submitted else 0.0

    @property
    def text(self) -> str:
        """Return the identity in words."""
        parts = [f"{self.analysed} analysed", f"{self.never_sampled} never sampled"]
        parts += [f"{count} left out ({reason})" for reason, count in self.left_out.items()]
        return f"{self.submitted} submitted {'=' if self.identity_holds else 'is not'} {' + '.join(parts)}"


def accounts_of(found: WorkingDirectory) -> Accounts:
    """Count the workloads of a working directory. Each has a scheduling timestamp, or is not analysed."""
    samples = found.samples
    sent = np.isfinite(samples.time(SUBMITTED))
    unscheduled = int((sent & np.isnan(samples.time("scheduled"))).sum())
    left_out = {"no podSchedulingDecisionTimestamp": unscheduled} if unscheduled else {}
    analysed = int(sent.sum()) - unscheduled
    return Accounts(len(found.submitted), analysed, len(found.lost_columns), left_out)


def negative_counts(found: WorkingDirectory) -> dict[str, tuple[int, str]]:
    """Return differences below their resolution: heading → number of workloads, and the cause."""
    ours = found.samples.take(np.flatnonzero(np.isfinite(found.samples.time(SUBMITTED))))
    counts = {delta: int((ours.delta(delta) < -resolution(delta)).sum()) for delta in DELTAS}
    return {
        delta.heading: (count, STAMPED_CAUSES[STARTS.get(delta.start, "object")])
        for delta, count in counts.items()
        if count
    }
