"""The workloads of a run directory as records of the scale-test-tool, so that its times.csv can be written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfanalysis.errors import UsageError
from perfanalysis.files.discovery import discover
from perfanalysis.files.source import Source
from perfanalysis.imports.scale_test_tool.records import Record
from perfanalysis.imports.scale_test_tool.run_directory import OBJECT_TRANSITIONS
from perfanalysis.workloads.scale_test.tables import SUBMISSIONS, TRANSITIONS

if TYPE_CHECKING:
    import pandas as pd

MARKER = "recording.json"
OTHER_STAMPS = {(kind, word): stamp for stamp, kind, word in OBJECT_TRANSITIONS} | {
    # where we watched a claim ourselves: it asks for its volume from the beginning
    ("PersistentVolumeClaim", "created"): "pvc_bind_requested"
}
POD_STAMPS = {
    "created": ("first_pod_created", "last_pod_created"),
    "scheduled": ("scheduled",),
    "evicted": ("first_eviction",),
}
JOB_KINDS = frozenset(("Job", "PyTorchJob", "RunaiJob"))
Key = tuple[str, str]


def records_by_recording(run: Path, *, server_clock: bool) -> dict[str, tuple[Record, ...]]:
    """The recordings of a run by name, each with its workloads in the order in which they were seen.

    With `server_clock` an object's times are the server's own, as the old tool had them, else those of their arrival.
    A workload's stamps are those of its first pod, except for the creation of the last. Raises UsageError when there
    is no recording.
    """
    places = discover(run, [MARKER]).places
    if not places:
        raise UsageError(f"{run} holds no recording of a scale test; there is nothing to make a times.csv of")
    found = {}
    for place in places:
        source = Source(place)
        submissions = source.json_lines("submissions.jsonl", SUBMISSIONS)
        transitions = source.json_lines("transitions.jsonl", TRANSITIONS)
        found[place.name] = _records(submissions, transitions, server_clock=server_clock)
    return found


def _records(submissions: pd.DataFrame, transitions: pd.DataFrame, *, server_clock: bool) -> tuple[Record, ...]:
    kinds: dict[Key, str] = {}
    sent: dict[Key, tuple[str, float]] = {}
    for namespace, name, kind, queue, moment in _rows(submissions, "namespace", "name", "kind", "queue", "sent_s"):
        kinds[namespace, name] = kind
        sent[namespace, name] = (queue if isinstance(queue, str) else namespace, moment)
    moments = transitions["server_s"].fillna(transitions["seen_s"]) if server_clock else transitions["seen_s"]
    timed = transitions.assign(moment=moments)[transitions["workload"].notna()]
    times: dict[Key, dict[str, float]] = {}
    for namespace, workload, kind, word, moment in _rows(
        timed, "namespace", "workload", "kind", "transition", "moment"
    ):
        key = (namespace, workload)
        _keep(times.setdefault(key, {}), _stamps_of(kind, word, kinds.get(key)), moment)
    keys = [*times, *(key for key in sent if key not in times)]
    return tuple(_record(key, sent.get(key), times.get(key, {})) for key in keys)


def _rows(frame: pd.DataFrame, *columns: str) -> Iterable[tuple[Any, ...]]:
    return zip(*(frame[column].astype("object") for column in columns), strict=True)


def _stamps_of(kind: str, word: str, workload_kind: str | None) -> tuple[str, ...]:
    """Which stamps a transition is one of. Where the workload is itself a job, it is both."""
    if kind == "Pod":
        return POD_STAMPS.get(word, ())
    if (kind, word) in OTHER_STAMPS:
        return (OTHER_STAMPS[kind, word],)
    if word != "created":
        return ()
    if kind == workload_kind or workload_kind is None:
        return ("workload_created", "job_created") if kind in JOB_KINDS else ("workload_created",)
    return ("job_created",) if kind in JOB_KINDS else ()


def _keep(times: dict[str, float], stamps: tuple[str, ...], moment: float) -> None:
    """The first time of each stamp, but the last of the last pod's creation."""
    for stamp in stamps:
        choose = max if stamp == "last_pod_created" else min
        times[stamp] = choose(times.get(stamp, moment), moment)


def _record(key: Key, sent: tuple[str, float] | None, times: dict[str, float]) -> Record:
    namespace, name = key
    project, submitted = sent if sent is not None else (namespace, None)
    return Record(name, namespace, project, submitted, times)
