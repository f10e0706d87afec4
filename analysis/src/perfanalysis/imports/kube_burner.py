"""A local folder of kube-burner, as a run directory or as a run of a history with orion's columns."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.files.documents import listing, load_json, mapping, number_or, text_or_none
from perfanalysis.files.findings import Finding, print_findings
from perfanalysis.files.local_path import LocalPath
from perfanalysis.imports.entries import Added, documents, keep, origin
from perfanalysis.imports.options import INTO, KpiOverrides
from perfanalysis.imports.orion.commands import CONFIG, TEST, VARIABLES, foreign_runs
from perfanalysis.imports.orion.config import OrionTest, chosen_test, read_config, read_variables
from perfanalysis.imports.orion.runs import OrionOutput, OrionRun, columns_of, unlike
from perfanalysis.imports.prometheus import Answer, query_files
from perfanalysis.imports.run_directory import Imported, Recording, Setting, write_run_directory
from perfanalysis.workloads.kube_burner.documents import ALERTS, PODS, QUANTILES, SUMMARY, job_of, moment
from perfanalysis.workloads.prometheus_ranges import NAME, samples_of

TOOL = "kube-burner"
NO_KEY = re.compile(r"version|name|url|uuid|region|domain|image|date|time", re.IGNORECASE)
"""Metadata whose names contain one of these words do not determine comparable jobs."""
OF_THE_DOCUMENT = frozenset(
    (
        *("timestamp", "endTimestamp", "churnStartTimestamp", "churnEndTimestamp", "elapsedTime", "uuid", "metricName"),
        *("incrementalLoadUUID", "jobConfig", "jobName", "version", "passed", "executionErrors", "achievedQps"),
    )
)
"""Keys of a summary that are not metadata of its user."""
Record = dict[str, Any]


@dataclass(frozen=True)
class Folder:
    """The documents of a folder, by kind; None for a file that cannot be read."""

    directory: Path
    files: Mapping[str, list[Record] | None]
    findings: tuple[Finding, ...]

    @property
    def summaries(self) -> list[Record]:
        """Return the summaries of the jobs, in order."""
        return self.files.get(SUMMARY) or []


def read_folder(directory: Path) -> Folder:
    """Read every JSON file of a folder. Raises UsageError if it is not kube-burner's, DataQualityError if its summary
    cannot be read.
    """
    paths = sorted(directory.glob("*.json"))
    if SUMMARY not in {path.name for path in paths}:
        raise UsageError(
            f"{directory} has no {SUMMARY}; pass the unpacked folder of kube-burner's local indexer (metricsDirectory)"
        )
    findings: list[Finding] = []
    files: dict[str, list[Record] | None] = {}
    for path in paths:
        files[path.name] = _records(path, findings)
    if not files[SUMMARY]:
        reason = "; ".join(finding.text for finding in findings if finding.where == SUMMARY) or "it is empty"
        raise DataQualityError(f"{directory / SUMMARY}: no job could be read: {reason}")
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
        text = f"{len(given) - len(records)} entries are not JSON objects and were left out"
        findings.append(Finding("error", path.name, text))
    return records


def imported_folder(folder: Folder) -> Imported:
    """Return the run of a folder: a cell for each job. Raises DataQualityError if a job has no name."""
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
    reason = (
        "; ".join(map(str, listing(errors))) or text_or_none(errors) or "kube-burner reports that the job did not pass"
    )
    return Recording(
        name=job,
        files=files,
        cell=(number, _values(summary, job)),
        started_s=began,
        ended_s=ended,
        error=reason if summary.get("passed") is False else None,
    )


def _bytes(records: list[Record]) -> bytes:
    return json.dumps(records, indent=1).encode()


def _own(records: list[Record], job: str, began: float | None, ended: float | None, *, alone: bool) -> list[Record]:
    """Return the documents of a job: by its name, else by their times."""

    def is_own(record: Record) -> bool:
        name, at_s = job_of(record), moment(record)
        if name is not None or alone:
            return name in (job, None)
        return None not in (began, ended, at_s) and float(began or 0) <= float(at_s or 0) <= float(ended or 0)

    return [record for record in records if is_own(record)]


def _values(summary: Record, job: str) -> dict[str, Any]:
    """Return what distinguishes a job from others and determines comparable jobs."""
    config = mapping(summary.get("jobConfig"))
    known = (("iterations", "jobIterations"), ("qps", "qps"), ("burst", "burst"), ("type", "jobType"))
    values = {f"kube_burner_{name}": config.get(key) for name, key in known}
    return {"kube_burner_job": job, **{name: value for name, value in values.items() if _is_plain(value)}}


def _metadata(summary: Record) -> dict[str, Setting]:
    """Return the user's metadata about the cluster; versions, names and addresses are not keys."""
    return {
        name: Setting(value, key=NO_KEY.search(name) is None)
        for name, value in summary.items()
        if name not in OF_THE_DOCUMENT and _is_plain(value)
    }


def _is_plain(value: object) -> bool:
    """Return whether a value can be a setting: a text, or a number that JSON can express."""
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _answers(folder: Folder, job: str, *, alone: bool) -> Iterator[Answer]:
    """Return a response for each metric of the metric profile, in the form of Prometheus'."""
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
            query = next((text for record in own if (text := text_or_none(record.get("query")))), title)
            yield Answer(title, json.dumps(answer).encode(), samples_of(answer, title), query=query)


def _series(records: list[Record]) -> list[dict[str, Any]]:
    found: dict[str, tuple[dict[str, str], list[list[Any]]]] = {}
    for record in records:
        at_s, value = moment(record), number_or(record.get("value"), float("nan"))
        labels = {str(name): str(text) for name, text in mapping(record.get("labels")).items() if name != NAME}
        if at_s is not None and "value" in record:
            found.setdefault(json.dumps(labels, sort_keys=True), (labels, []))[1].append([at_s, repr(value)])
    return [{"metric": labels, "values": sorted(values)} for labels, values in found.values()]


def keep_columns(folder: Folder, test: OrionTest, history: Path) -> Added:
    """Add the columns of a test, computed from a folder, to a history; a finding for each column without a value.

    Raises UsageError if the folder does not match the test, DataQualityError if it has no uuid or no column at all.
    """
    summary = folder.summaries[0]
    wrong = unlike(test, summary)
    if wrong:
        raise UsageError(f"{folder.directory} does not match the test {test.name}: {'; '.join(wrong)}")
    uuid = text_or_none(summary.get("uuid"))
    columns = columns_of(test, [record for records in folder.files.values() for record in records or []])
    if uuid is None or not columns.values:
        reason = "its summary has no uuid" if uuid is None else "; ".join(columns.missing.values())
        raise DataQualityError(f"{folder.directory} has no run of {test.name}: {reason}")
    shown = {
        name: value
        for name, value in summary.items()
        if name not in OF_THE_DOCUMENT and isinstance(value, str | int | float)
    }
    content = (folder.directory / SUMMARY).read_bytes()
    run = OrionRun(uuid, moment(summary), columns.values, {}, shown, None)
    output = OrionOutput(folder.directory.name, content, (run,), ())
    source = {**origin(folder.directory, content)}
    added = keep(history, documents(foreign_runs(output, test.name, test, KpiOverrides()), source))
    missing = tuple(Finding("warning", column, f"left out: {why}") for column, why in columns.missing.items())
    return replace(added, findings=(*missing, *added.findings))


@click.command("kube-burner")
@click.argument("directory", type=LocalPath(exists=True, file_okay=False))
@INTO
@click.option(
    "--history",
    type=LocalPath(),
    metavar="FOLDER",
    help="Add the columns of --orion-config to this history instead of creating a run.",
)
@CONFIG
@TEST
@VARIABLES
def import_kube_burner(
    directory: Path,
    into: Path | None,
    history: Path | None,
    orion_config: Path | None,
    orion_test: str | None,
    orion_vars: str | None,
) -> None:
    """Create a run directory from DIRECTORY, the folder of kube-burner's indexer `local`.

    Each job becomes a cell with its summary, the latencies of its pods, its quantiles (computed again from the pods),
    its alerts, and the samples of its metric profile. With --history and --orion-config, it computes the metrics of a
    test of orion from the documents, as orion would from its index. Exit code 5: a file could not be read; the others
    were imported.
    """
    if (history is None) != (orion_config is None):
        raise UsageError("pass --history and --orion-config together")
    folder = read_folder(directory)
    print_findings(folder.findings)
    if history is not None and orion_config is not None:
        test = chosen_test(read_config(orion_config, read_variables(orion_vars)), orion_test, orion_config)
        added = keep_columns(folder, test, history)
        print_findings(added.findings)
        click.echo(added.summary(directory.name, of=test.name))
    else:
        imported = imported_folder(folder)
        run = write_run_directory(imported, into)
        click.echo(f"{len(imported.recordings)} jobs: {', '.join(recording.name for recording in imported.recordings)}")
        click.echo(f"Run: {run}")
    lost = [finding.where for finding in folder.findings if finding.severity == "error"]
    if lost:
        raise DataQualityError(f"could not read all of {', '.join(lost)}; the rest was imported")
