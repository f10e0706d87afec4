"""LTS payloads of MatrixBenchmarking, the long-term storage format of its workloads, as runs of a history."""

from __future__ import annotations

import hashlib
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import Document, any_number, load_json, mapping, parse_time, text_or_none
from perfanalysis.files.findings import Finding, print_findings
from perfanalysis.files.local_path import LocalPath
from perfanalysis.imports.entries import ForeignRun, documents, keep, origin
from perfanalysis.imports.matrixbenchmarking.tree import plain
from perfanalysis.imports.options import HISTORY, SCALED, Scale
from perfanalysis.units import unit_of
from perfanalysis.workloads.fine_tuning.job import leaves
from perfanalysis.workloads.kpis import Direction, KpiValue

SENTINEL = -1
"""The value that marks a missing metric."""
SAME = {"s": "seconds", "sec": "seconds", "secs": "seconds", "second": "seconds", "x": "count", "": "count"}
"""Units and their other names."""
NO_VALUE = "the payload has no value: the function that computes it failed"
NOT_FINITE = "it is not a finite number"
ABSENT = "-1 marks a missing metric"


@dataclass(frozen=True)
class Measured:
    """A number, or None with the reason; `count` is the length of the list whose median it is."""

    number: float | None
    reason: str | None = None
    count: int | None = None
    was_text: bool = False
    """Whether the number was a text, as numpy's numbers are."""


def measured(value: object) -> Measured:
    """Return the value of a KPI."""
    if isinstance(value, list):
        return _median([measured(each) for each in value])
    if value is None:
        return Measured(None, NO_VALUE)
    number = any_number(value)
    if number is None:
        return Measured(None, f"{str(value)[:40]!r} is not a number")
    if not math.isfinite(number):
        return Measured(None, NOT_FINITE)
    if number == SENTINEL:
        return Measured(None, ABSENT)
    return Measured(number, was_text=isinstance(value, str))


def _median(found: list[Measured]) -> Measured:
    known = [each.number for each in found if each.number is not None]
    if not known:
        return Measured(None, found[0].reason if found else "its list is empty")
    return Measured(statistics.median(known), count=len(known), was_text=any(each.was_text for each in found))


def scale_of(unit: object) -> Scale:
    """Return our unit for a unit of a payload, and the factor; an unknown one is kept as an annotation."""
    text = str(unit or "").strip()
    whole, slash, per = text.partition("/")
    if slash and per in ("s", "sec", "second") and whole:
        return Scale(f"{scale_of(whole).unit}/s", scale_of(whole).factor)
    text = SAME.get(text, text)
    if text in SCALED:
        return Scale(*SCALED[text])
    try:
        return Scale(unit_of(text).name)
    except ValueError:
        words = re.sub(r"[^A-Za-z0-9 _-]+", " ", text.replace("/", " per ")).strip()
        return Scale(f"{{{words}}}" if words[:1].isalpha() else "{unknown}")


def name_of(name: Any) -> str:
    """Return the name of a KPI in our form: lower_case."""
    lowered = re.sub(r"[^a-z0-9_]+", "_", str(name).lower()).strip("_")
    return lowered if lowered[:1].isalpha() else f"kpi_{lowered}"


TOOL = "lts"
FACTS = ("ocp_version", "run_id", "ci_engine", "test_path", "presets", "urls", "lts_schema_version")
"""Metadata that are neither settings nor keys."""


@dataclass(frozen=True)
class Payload:
    """A payload as a run of a history; `missing` are its KPIs without a value, with the reasons."""

    run: ForeignRun
    status: str
    missing: Mapping[str, str]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class File:
    """The payloads of a file, and what was left out of it."""

    path: Path
    content: bytes
    payloads: tuple[Payload, ...]
    findings: tuple[Finding, ...] = field(default=())


def files_of(path: Path) -> tuple[Path, ...]:
    """Return a file, or every JSON file of a directory. Raises UsageError if there is no such file."""
    found = tuple(sorted(path.glob("*.json"))) if path.is_dir() else (path,)
    if not found:
        raise UsageError(f"{path} contains no *.json; pass LTS payloads, or the directory with them")
    return found


def read_file(path: Path) -> File:
    """Return one payload, or a list of them; invalid ones become findings. Raises UsageError if the file cannot be
    read.
    """
    try:
        content = path.read_bytes()
        found = load_json(content)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    payloads: dict[str, Payload] = {}
    findings = []
    for number, document in enumerate(found if isinstance(found, list) else [found]):
        where = path.name if not isinstance(found, list) else f"{path.name}[{number}]"
        payload = _payload(document, where)
        if payload is None:
            findings.append(Finding("error", where, "it is not an LTS payload (metadata and kpis) and was left out"))
        elif payload.run.run in payloads:
            findings.append(
                Finding("warning", where, f"the test {payload.run.run} occurs twice; only the first is used")
            )
        else:
            payloads[payload.run.run] = payload
    return File(path, content, tuple(payloads.values()), tuple(findings))


def _payload(document: object, where: str) -> Payload | None:
    given = mapping(document)
    try:
        metadata, kpis = plain(given.get("metadata")), plain(given.get("kpis"))
    except ValueError:
        return None
    if not isinstance(metadata, dict) or not isinstance(kpis, dict):
        return None
    keys, facts = _keys_and_facts(metadata)
    made, missing, findings = _kpis(kpis, where)
    run = ForeignRun(
        run=text_or_none(metadata.get("test_uuid")) or hashlib.sha256(repr((metadata, kpis)).encode()).hexdigest()[:32],
        tool=TOOL,
        recording=TOOL,
        started_s=parse_time(metadata.get("start")),
        kpis=made,
        keys=keys,
        facts=facts,
    )
    # only successful tests are used for comparisons
    good = metadata.get("status") in (None, "Valid") and metadata.get("exit_code") in (None, 0, "0")
    return Payload(run, "ok" if good else "failed", missing, findings)


def _keys_and_facts(metadata: Document) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings that determine comparable tests, and additional facts, mainly versions."""
    settings = {name: value for name, value in leaves(mapping(metadata.get("settings"))) if value is not None}
    facts = {name: metadata[name] for name in FACTS if metadata.get(name) is not None}
    facts |= {name: value for name, value in settings.items() if name.endswith("version")}
    return {name: value for name, value in settings.items() if name not in facts}, facts


def _kpis(given: Document, where: str) -> tuple[tuple[KpiValue, ...], dict[str, str], tuple[Finding, ...]]:
    made: dict[str, KpiValue] = {}
    missing: dict[str, str] = {}
    texts = 0
    for name, kpi in given.items():
        value = measured(mapping(kpi).get("value"))
        texts += value.was_text
        if value.number is None:
            missing[name_of(name)] = value.reason or ""
        else:
            made[name_of(name)] = _kpi(name_of(name), mapping(kpi), value.number, value.count)
    return tuple(made.values()), missing, tuple(_findings(where, missing, texts))


def _kpi(name: str, kpi: Document, number: float, count: int | None) -> KpiValue:
    scale = scale_of(kpi.get("unit"))
    text = text_or_none(kpi.get("help")) or name
    return KpiValue(
        name=name,
        help=text if count is None else f"{text} (the median of its values)",
        unit=scale.unit,
        direction=_direction(kpi),
        number=number * scale.factor,
        count=count,
    )


def _direction(kpi: Document) -> Direction:
    """Return which direction is better; neither if the payload does not state it, or excludes it from regressions."""
    lower = kpi.get("lower_better")
    if kpi.get("ignored_for_regression") or not isinstance(lower, bool):
        return "neither"
    return "lower" if lower else "higher"


def _findings(where: str, missing: Mapping[str, str], texts: int) -> Iterator[Finding]:
    for reason, count in Counter(missing.values()).items():
        names = ", ".join(name for name, each in missing.items() if each == reason)
        yield Finding("warning", where, f"{count} KPIs have no value ({reason}): {names}")
    if texts:
        yield Finding("note", where, f"{texts} KPIs have a text instead of a number; the text is read as a number")


def history_documents(payloads: Iterable[Payload], imported: Document) -> Iterator[Document]:
    """Return one psap.perf/history/1 for each payload; `missing` are its KPIs without a value and the reasons."""
    for payload in payloads:
        for document in documents([payload.run], imported):
            recordings = [{**recording, "missing": dict(payload.missing)} for recording in document["recordings"]]
            yield {**document, "status": payload.status, "recordings": recordings}


@click.command("lts")
@click.argument("paths", nargs=-1, required=True, type=LocalPath(exists=True))
@HISTORY
def import_lts(paths: tuple[Path, ...], folder: Path) -> None:
    """Add LTS payloads to a history.

    PATHS are files with one payload or a list of them, or directories of such files, as exported and downloaded. The ID
    of a run is the uuid of the test; its settings become the keys for comparisons, versions and other metadata become
    facts.
    """
    for path in (file for given in paths for file in files_of(given)):
        read = read_file(path)
        added = keep(folder, history_documents(read.payloads, origin(path, read.content)))
        print_findings(
            (*read.findings, *(each for payload in read.payloads for each in payload.findings), *added.findings)
        )
        click.echo(added.summary(path.name))
