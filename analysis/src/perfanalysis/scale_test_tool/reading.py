"""Read a working directory of the scale-test-tool: submitted.json and sampled.json, or what of them is there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.findings import Finding
from perfanalysis.scale_test_tool.records import STAMPS, Record, parse_stamp, without_stand_ins
from perfanalysis.scale_test_tool.times_csv import read_times_csv

SUBMITTED_FILE = "submitted.json"
SAMPLED_FILE = "sampled.json"
TIMES_FILE = "times.csv"
Key = tuple[str, str]


@dataclass(frozen=True)
class WorkingDirectory:
    """What was found. `sampled` is in the order of the file; those of nobody's submission have no submitted_s.

    `lost` are the submitted workloads that were never sampled, with the reason they all share; `files` maps the name
    of each file read to the SHA-256 of its contents.
    """

    directory: Path
    submissions: tuple[Record, ...]
    sampled: tuple[Record, ...]
    lost_reason: str
    findings: tuple[Finding, ...]
    files: Mapping[str, str]

    @property
    def lost(self) -> tuple[Record, ...]:
        """Submitted workloads that were never sampled."""
        seen = {_key(record) for record in self.sampled}
        return tuple(record for record in self.submissions if _key(record) not in seen)

    @property
    def orphans(self) -> tuple[Record, ...]:
        """Sampled workloads that somebody else submitted; none when nothing is known of any submission."""
        return tuple(record for record in self.sampled if record.submitted_s is None) if self.submissions else ()

    @property
    def records(self) -> tuple[Record, ...]:
        """Every workload: the sampled in the order of the file, then the lost."""
        return self.sampled + self.lost


def _key(record: Record) -> Key:
    return record.namespace, record.name


def read_working_directory(directory: Path) -> WorkingDirectory:
    """Read what is there. Without sampled.json the rows of times.csv stand in for it.

    Raises UsageError when the directory holds nothing of the scale-test-tool, and DataQualityError naming file,
    record and key where a file is not what the tool writes.
    """
    paths = {name: directory / name for name in (SUBMITTED_FILE, SAMPLED_FILE, TIMES_FILE)}
    there = {name for name, path in paths.items() if path.is_file()}
    if not there:
        raise UsageError(
            f"{directory} holds neither {SUBMITTED_FILE} nor {SAMPLED_FILE} nor {TIMES_FILE}; give the output "
            "directory of the scale-test-tool"
        )
    findings: list[Finding] = []
    sampled, reason = _sampled(paths, there, findings)
    submissions, twice = _submissions(paths, there, sampled)
    if twice:
        findings.append(Finding("warning", SUBMITTED_FILE, f"{twice} names were submitted twice: the last one counts"))
    if SUBMITTED_FILE not in there:
        text = "the file is missing: the submissions are those known from the samples"
        findings.append(Finding("warning", SUBMITTED_FILE, text))
    sent = {_key(record): record.submitted_s for record in submissions}
    sampled = tuple(_sent(record, sent.get(_key(record))) for record in sampled)
    files = {name: hashlib.sha256(paths[name].read_bytes()).hexdigest() for name in sorted(there)}
    found = WorkingDirectory(directory, submissions, sampled, reason, (), files)
    return replace(found, findings=(*findings, *_orphan_findings(found)))


def _orphan_findings(found: WorkingDirectory) -> tuple[Finding, ...]:
    if not found.orphans:
        return ()
    text = f"{len(found.orphans)} workloads were sampled but not submitted here, and are not counted"
    return (Finding("note", SAMPLED_FILE, text),)


def _sampled(paths: Mapping[str, Path], there: set[str], findings: list[Finding]) -> tuple[tuple[Record, ...], str]:
    """The sampled workloads, and why others that were submitted are not among them."""
    if SAMPLED_FILE in there:
        records = tuple(_record(paths[SAMPLED_FILE], *item) for item in _objects(paths[SAMPLED_FILE]))
        for stamp in STAMPS[:6]:
            missing = sum(stamp.name not in record.times for record in records)
            if missing:
                findings.append(Finding("warning", SAMPLED_FILE, f"{missing} records have no {stamp.key}"))
        return _last_of_each(records)[0], "never sampled: the sampler skips a workload of which it misses a piece"
    if TIMES_FILE in there:
        text = f"the file is missing: the rows of {TIMES_FILE} stand in for it"
        findings.append(Finding("warning", SAMPLED_FILE, text))
        return read_times_csv(paths[TIMES_FILE]), f"not in {TIMES_FILE}: the plotter leaves out what looks wrong"
    findings.append(Finding("warning", SAMPLED_FILE, "the file is missing: nothing is known but the submissions"))
    return (), f"there is no {SAMPLED_FILE}"


def _submissions(
    paths: Mapping[str, Path], there: set[str], sampled: tuple[Record, ...]
) -> tuple[tuple[Record, ...], int]:
    """Submitted workloads in their order, and how many more there were under a name used before."""
    if SUBMITTED_FILE not in there:
        known = read_times_csv(paths[TIMES_FILE]) if TIMES_FILE in there else sampled
        return tuple(record for record in known if record.submitted_s is not None), 0
    path = paths[SUBMITTED_FILE]
    stamped = (
        _sent(_named(path, number, item, {}), _stamp(path, number, item, "submitTimestamp"))
        for number, item in _objects(path)
    )
    return _last_of_each(tuple(stamped))


def _sent(record: Record, moment: float | None) -> Record:
    return Record(record.name, record.namespace, record.project, moment, record.times)


def _last_of_each(records: tuple[Record, ...]) -> tuple[tuple[Record, ...], int]:
    by_key = {_key(record): record for record in records}
    return tuple(by_key.values()), len(records) - len(by_key)


def _objects(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The records of a file with their numbers from 1."""
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataQualityError(f"{path} cannot be read: {error}") from error
    if not isinstance(loaded, list):
        raise DataQualityError(f"{path} holds no list of workloads")
    for number, item in enumerate(loaded, 1):
        if not isinstance(item, dict):
            raise DataQualityError(f"{path}: record {number} is not an object")
    return list(enumerate(loaded, 1))


def _record(path: Path, number: int, item: dict[str, Any]) -> Record:
    known = (stamp for stamp in STAMPS if item.get(stamp.key) is not None)
    times = {stamp.name: _stamp(path, number, item, stamp.key) for stamp in known}
    return _named(path, number, item, without_stand_ins(times))


def _named(path: Path, number: int, item: dict[str, Any], times: Mapping[str, float]) -> Record:
    texts = []
    for key in ("jobName", "jobNamespace", "projectName"):
        if not isinstance(item.get(key), str):
            raise DataQualityError(f"{path}: record {number} has no {key}")
        texts.append(item[key])
    return Record(texts[0], texts[1], texts[2], None, times)


def _stamp(path: Path, number: int, item: dict[str, Any], key: str) -> float:
    if key not in item:
        raise DataQualityError(f"{path}: record {number} ({item.get('jobName')}) has no {key}")
    try:
        return parse_stamp(item[key])
    except ValueError as error:
        raise DataQualityError(f"{path}: record {number} ({item.get('jobName')}): {key}: {error}") from error
