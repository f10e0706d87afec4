"""Read kube-burner's local folder and split it by job, each with its documents and what Prometheus knew of it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.files.documents import listing, load_json, mapping, number_or, text_or_none
from perfanalysis.files.findings import Finding
from perfanalysis.imports.prometheus.reading import Answer, query_files
from perfanalysis.imports.run_directory import Imported, Recording, Setting
from perfanalysis.workloads.kube_burner.documents import ALERTS, PODS, QUANTILES, SUMMARY, job_of, moment
from perfanalysis.workloads.prometheus.reading import NAME, samples_of

TOOL = "kube-burner"
NO_KEY = re.compile(r"version|name|url|uuid|region|domain|image|date|time", re.IGNORECASE)
"""Metadata whose names have one of these words do not decide what a job is compared with."""
OF_THE_DOCUMENT = frozenset(
    (
        *("timestamp", "endTimestamp", "churnStartTimestamp", "churnEndTimestamp", "elapsedTime", "uuid", "metricName"),
        *("incrementalLoadUUID", "jobConfig", "jobName", "version", "passed", "executionErrors", "achievedQps"),
    )
)
"""What a summary has beside the metadata that its user gave."""
Record = dict[str, Any]


@dataclass(frozen=True)
class Folder:
    """The documents of a folder: those of one kind in a file, those of a file that cannot be read are None."""

    directory: Path
    files: Mapping[str, list[Record] | None]
    findings: tuple[Finding, ...]

    @property
    def summaries(self) -> list[Record]:
        """The summaries of the jobs, in their order."""
        return self.files.get(SUMMARY) or []


def read_folder(directory: Path) -> Folder:
    """Read every JSON file of a folder. Raises UsageError when it is none of kube-burner's, DataQualityError when its
    summary cannot be read.
    """
    paths = sorted(directory.glob("*.json"))
    if SUMMARY not in {path.name for path in paths}:
        raise UsageError(
            f"{directory} has no {SUMMARY}; give the folder of kube-burner's indexer local (metricsDirectory), unpacked"
        )
    findings: list[Finding] = []
    files: dict[str, list[Record] | None] = {}
    for path in paths:
        files[path.name] = _records(path, findings)
    if not files[SUMMARY]:
        told = "; ".join(finding.text for finding in findings if finding.where == SUMMARY) or "it is empty"
        raise DataQualityError(f"{directory / SUMMARY}: no job can be read: {told}")
    return Folder(directory, files, tuple(findings))


def _records(path: Path, findings: list[Finding]) -> list[Record] | None:
    try:
        loaded = load_json(path.read_bytes())
    except (OSError, ValueError) as error:
        findings.append(Finding("error", path.name, f"the file cannot be read: {error}"))
        return None
    given = loaded if isinstance(loaded, list) else [loaded]
    records = [record for record in given if isinstance(record, dict)]
    if len(records) < len(given):
        text = f"{len(given) - len(records)} entries are no JSON objects and were left out"
        findings.append(Finding("error", path.name, text))
    return records


def imported_folder(folder: Folder) -> Imported:
    """The run that a folder is: a cell for each job. Raises DataQualityError when a job has no name."""
    names = [job_of(summary) for summary in folder.summaries]
    nameless = names.index(None) + 1 if None in names else None
    if nameless is not None:
        raise DataQualityError(f"{folder.directory / SUMMARY}: entry {nameless} has no jobConfig.name")
    recordings = tuple(
        _recording(folder, summary, str(name), number)
        for number, (summary, name) in enumerate(zip(folder.summaries, names, strict=True))
    )
    first = folder.summaries[0]
    version = text_or_none(first.get("version"))
    return Imported(
        tool=TOOL,
        source=folder.directory,
        flow="kube_burner",
        recordings=recordings,
        settings=_metadata(first),
        versions={} if version is None else {TOOL: version},
        cluster_version=text_or_none(first.get("ocpVersion")) or text_or_none(first.get("k8sVersion")),
    )


def _recording(folder: Folder, summary: Record, job: str, number: int) -> Recording:
    began, ended = moment(summary), moment(summary, "endTimestamp")
    files: dict[str, Path | bytes] = {SUMMARY: _bytes([summary])}
    for name, records in folder.files.items():
        if name != SUMMARY and (PODS in name or QUANTILES in name or name == ALERTS):
            own = _own(records or [], job, began, ended, alone=len(folder.summaries) == 1)
            if records is None or own:
                files[name] = folder.directory / name if records is None or own == records else _bytes(own)
    answers = tuple(_answers(folder, job, alone=len(folder.summaries) == 1))
    files |= query_files(answers)
    errors = summary.get("executionErrors")
    told = "; ".join(map(str, listing(errors))) or text_or_none(errors) or "kube-burner says that it did not pass"
    return Recording(
        name=job,
        files=files,
        cell=(number, _values(summary, job)),
        started_s=began,
        ended_s=ended,
        error=told if summary.get("passed") is False else None,
    )


def _bytes(records: list[Record]) -> bytes:
    return json.dumps(records, indent=1).encode()


def _own(records: list[Record], job: str, began: float | None, ended: float | None, *, alone: bool) -> list[Record]:
    """The documents of a job: by its name, else by their time in it."""

    def is_own(record: Record) -> bool:
        name, at_s = job_of(record), moment(record)
        if name is not None or alone:
            return name in (job, None)
        return None not in (began, ended, at_s) and float(began or 0) <= float(at_s or 0) <= float(ended or 0)

    return [record for record in records if is_own(record)]


def _values(summary: Record, job: str) -> dict[str, Any]:
    """What tells one job from others, and decides what it is compared with."""
    config = mapping(summary.get("jobConfig"))
    known = (("iterations", "jobIterations"), ("qps", "qps"), ("burst", "burst"), ("type", "jobType"))
    values = {f"kube_burner_{name}": config.get(key) for name, key in known}
    return {"kube_burner_job": job, **{name: value for name, value in values.items() if _is_plain(value)}}


def _metadata(summary: Record) -> dict[str, Setting]:
    """What the user's metadata says of the cluster; versions, names and addresses are no keys."""
    return {
        name: Setting(value, key=NO_KEY.search(name) is None)
        for name, value in summary.items()
        if name not in OF_THE_DOCUMENT and _is_plain(value)
    }


def _is_plain(value: object) -> bool:
    """Whether it can be written as a setting: a text, or a number that JSON has."""
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _answers(folder: Folder, job: str, *, alone: bool) -> Iterator[Answer]:
    """An answer for each metric of the metric profile, in the form of Prometheus' own."""
    for name, records in folder.files.items():
        if name in (SUMMARY, ALERTS) or PODS in name or QUANTILES in name:
            continue
        title = Path(name).stem.removesuffix(f"-{job}")
        if records is None:
            yield Answer(title, b"", None, "the file cannot be read")
            continue
        own = [record for record in records if job_of(record) == job or (alone and job_of(record) is None)]
        result = _series(own)
        if result:
            answer = {"status": "success", "data": {"resultType": "matrix", "result": result}}
            query = next((text for text in map(_query, own) if text), title)
            yield Answer(title, json.dumps(answer).encode(), samples_of(answer, title), query=query)


def _query(record: Record) -> str | None:
    return text_or_none(record.get("query"))


def _series(records: list[Record]) -> list[dict[str, Any]]:
    found: dict[str, tuple[dict[str, str], list[list[Any]]]] = {}
    for record in records:
        at_s, value = moment(record), number_or(record.get("value"), float("nan"))
        labels = {str(name): str(text) for name, text in mapping(record.get("labels")).items() if name != NAME}
        if at_s is not None and "value" in record:
            found.setdefault(json.dumps(labels, sort_keys=True), (labels, []))[1].append([at_s, repr(value)])
    return [{"metric": labels, "values": sorted(values)} for labels, values in found.values()]
