"""The lists of a recording as tables, with the durations for its KPIs and plots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from perfanalysis.files.bounded import LARGEST_LIST, content
from perfanalysis.files.documents import parse_time, text_or_none
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.files.tables import TypedRows
from perfanalysis.workloads.kubernetes_objects import device_slices, jobs, pods
from perfanalysis.workloads.kubernetes_objects.model import KIND, MARKER, Item, Stamps, read_list
from perfanalysis.workloads.kubernetes_objects.pods import offered_by

Rows = list[dict[str, Any]]


def tables_of(source: RecordingFiles, pattern: str) -> dict[str, TypedRows]:
    """Return the tables `pods`, `jobs` and `tests` of all lists that match a declared pattern.

    The one row of `tests` is the document of the recording and the nodes' capacity. Damaged lists, entries that are not
    objects, and contradicting timestamps become findings of the source.
    """
    stamps = Stamps()
    pod_rows: Rows = []
    job_rows: Rows = []
    nodes: list[Item] = []
    slices: list[Item] = []
    other: Counter[str] = Counter()
    for name in source.names(pattern):
        if name == MARKER:
            continue
        for item in _items(source, name):
            kind = _kind(item)
            if kind == "Pod":
                pod_rows.append(pods.pod_row(item, stamps))
            elif kind == "Node":
                nodes.append(item)
            elif kind == device_slices.KIND:
                slices.append(item)
            elif kind in jobs.KINDS:
                job_rows.append(jobs.job_row(item, stamps))
            else:
                other[kind] += 1
    if other:
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(other.items()))
        source.find("note", pattern, f"objects of kinds that are not analysed: {counts}")
    if stamps.unreadable:
        source.find(
            "error", pattern, f"{stamps.unreadable} timestamps are not times with a zone; they count as missing"
        )
    return {
        "pods": _with_durations(source, pattern, pod_rows, pods.DURATIONS),
        "jobs": _with_durations(source, pattern, jobs.joined(job_rows), jobs.DURATIONS),
        "tests": TypedRows([{**_test(source), **offered_by(nodes, device_slices.gpus_by_node(slices))}]),
    }


def _test(source: RecordingFiles) -> dict[str, Any]:
    """Return what the recording's document states about the test."""
    document = source.document(MARKER, KIND)
    return {
        "test": text_or_none(document.get("test")),
        "started_s": parse_time(document.get("started")),
        "ended_s": parse_time(document.get("ended")),
    }


def _items(source: RecordingFiles, name: str) -> Iterable[Item]:
    try:
        read = read_list(content(source.path(name), LARGEST_LIST))
    except OSError as error:
        source.find("error", name, f"the file cannot be read: {error}")
        return ()
    if read.left_out:
        source.find("error", name, f"{read.left_out} entries are not Kubernetes objects and were left out")
    if read.problem is not None:
        source.find("error", name, read.problem)
    return read.items


def _kind(item: Item) -> str:
    """Return the kind of an object; old dumps of pods and nodes do not state it."""
    if item.kind is None and item.spec is not None and item.spec.node_name is not None:
        return "Pod"
    if item.kind is None and item.status is not None and item.status.allocatable is not None:
        return "Node"
    return item.kind or "no kind"


def _with_durations(
    source: RecordingFiles, pattern: str, rows: Rows, durations: tuple[tuple[str, str, str], ...]
) -> TypedRows:
    """Return the rows with the seconds between two of their timestamps; negative ones are counted as missing."""
    negative: Counter[str] = Counter()
    for row in rows:
        for name, begin, end in durations:
            lasted = None if row[begin] is None or row[end] is None else row[end] - row[begin]
            if lasted is not None and lasted < 0:
                negative[f"{end} before {begin}"] += 1
                lasted = None
            row[name] = lasted
    if negative:
        counts = ", ".join(f"{count} with {what}" for what, count in negative.items())
        source.find("warning", pattern, f"contradicting timestamps: {counts}; these durations are missing")
    return TypedRows(rows)
