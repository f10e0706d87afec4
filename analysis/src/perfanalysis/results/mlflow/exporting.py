"""Export documents of a history to MLflow: each run is one MLflow run, however often it is exported.

The tags `psap.perf.run` and `psap.perf.content` identify a run and its document; `psap.perf.complete` is set last. An
interrupted export is continued: writing the same values again changes nothing. A run of an earlier analysis is deleted
when the new one is complete. Of two that concurrent exports created, the one with the lowest ID is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from perfanalysis.drawing.wording import value_text
from perfanalysis.files.documents import Document, listing, mapping, number_or, parse_time
from perfanalysis.results.history.documents import kpis_of_document
from perfanalysis.results.history.folder import canonical, content_name
from perfanalysis.results.mlflow.connection import Client, Tracking, Values, client_errors

Value = TypeVar("Value", str, float)
RUN, CONTENT, COMPLETE = "psap.perf.run", "psap.perf.content", "psap.perf.complete"
RECORDING = "psap.perf.recording"
PARENT, NOTE = "mlflow.parentRunId", "mlflow.note.content"
STATUS = {"ok": "FINISHED", "interrupted": "KILLED"}
"""MLflow's status for each status of a run; FAILED for every other."""
INVALID = re.compile(r"[^\w.\-/ :]+")
"""Characters that names of metrics, parameters and tags cannot contain."""
MOST_METRICS, MOST_OTHERS = 500, 100
"""Values of one request; the server's limits are 1,000 and 100."""
LONGEST_NAME, LONGEST_VALUE = 250, 5000
SETTING = "setting."


@dataclass(frozen=True, slots=True)
class Part:
    """What one MLflow run contains; `parts` are the recordings of a run that has several."""

    name: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Exported:
    """How many runs were exported, and how many were there already."""

    new: int
    there: int


def export(client: Client, tracking: Tracking, documents: Iterable[Document]) -> Exported:
    """Export runs; raises MlflowError if the server cannot be reached, or refuses."""
    counts = {True: 0, False: 0}
    with client_errors(tracking):
        for document in documents:
            counts[_export_run(client, tracking, document)] += 1
    return Exported(counts[True], counts[False])


def _export_run(client: Client, tracking: Tracking, document: Document) -> bool:
    """Export one run; return whether it is new."""
    run, content = str(document["run"]), content_name(canonical(document)).removesuffix(".json")
    experiment = client.experiment(f"{tracking.experiment}/{document.get('flow') or 'unknown'}")
    former = client.find(experiment, RUN, run)
    same = [each for each in former if each.tags.get(CONTENT) == content]
    if any(COMPLETE in each.tags for each in same):
        return False
    begun = min((each.identity for each in same), default=None)
    written = _write(client, experiment, part_of(document), document, {RUN: run, CONTENT: content}, begun)
    client.log(written, Values({}, {}, {COMPLETE: "true"}), 0)
    found = client.find(experiment, RUN, run)
    complete = {each.identity for each in found if each.tags.get(CONTENT) == content and COMPLETE in each.tags}
    replaced = {each.identity for each in former if each.tags.get(CONTENT) != content}
    superfluous = (complete - {min(complete, default=written)}) | replaced
    for each in sorted(superfluous & {each.identity for each in found}):
        for child in client.find(experiment, PARENT, each):
            client.delete(child.identity)
        client.delete(each)
    return True


def part_of(document: Document) -> Part:
    """Return the contents of a run: facts as parameters and tags, KPIs as metrics; each recording apart if several."""
    facts = mapping(document.get("facts"))
    recordings = [_recording(mapping(each)) for each in listing(document.get("recordings"))]
    settings = {name.removeprefix(SETTING): value for name, value in facts.items() if name.startswith(SETTING)}
    tags = {name: value for name, value in facts.items() if not name.startswith(SETTING)}
    lab = {f"lab.{word}": names for word, names in mapping(document.get("lab")).items() if names}
    own = recordings[0] if len(recordings) == 1 else Part("")
    return Part(
        str(document["run"]),
        own.metrics,
        {**_texts(settings), **own.params},
        {**_texts({**tags, **lab}), **own.tags},
        () if len(recordings) == 1 else tuple(recordings),
    )


def _recording(recording: Mapping[str, Any]) -> Part:
    name = str(recording.get("recording"))
    kpis = kpis_of_document(dict(recording))
    metrics: dict[str, float] = {}
    lines = ["| KPI | unit | better |", "|---|---|---|"]
    for kpi in kpis:
        metric = _name(kpi.series.replace("{", "/").replace("=", ":").replace('"', "").rstrip("}"))
        metrics[metric] = kpi.known
        lines.append(f"| {metric} | {kpi.unit} | {kpi.direction} |")
    tags = {RECORDING: name, NOTE: "\n".join(lines)[:LONGEST_VALUE]}
    return Part(name, metrics, _texts(mapping(recording.get("keys"))), tags)


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {_name(name): value_text(value)[:LONGEST_VALUE] for name, value in values.items()}


def _name(text: str) -> str:
    return INVALID.sub("_", text)[:LONGEST_NAME]


def _write(
    client: Client,
    experiment: str,
    part: Part,
    document: Document,
    tags: Mapping[str, str],
    begun: str | None,
) -> str:
    """Write a part with the parts below it, into the one that an interrupted export began; return its ID."""
    at = int(1000 * number_or(parse_time(document.get("started")), 0.0))
    run = begun or client.create(experiment, part.name, at, tags)
    for values in _batches(part):
        client.log(run, values, at)
    there = {each.tags.get(RECORDING): each.identity for each in client.find(experiment, PARENT, run)} if begun else {}
    for each in part.parts:
        own = {PARENT: run, RECORDING: each.name}
        _write(client, experiment, each, document, own, there.get(each.name))
    client.finish(run, STATUS.get(str(document.get("status")), "FAILED"), at)
    return run


def _batches(part: Part) -> Iterator[Values]:
    for metrics in _slices(part.metrics, MOST_METRICS):
        yield Values(metrics, {}, {})
    for params in _slices(part.params, MOST_OTHERS):
        yield Values({}, params, {})
    for tags in _slices(part.tags, MOST_OTHERS):
        yield Values({}, {}, tags)


def _slices(values: Mapping[str, Value], most: int) -> Iterator[dict[str, Value]]:
    items = list(values.items())
    return (dict(items[first : first + most]) for first in range(0, len(items), most))
