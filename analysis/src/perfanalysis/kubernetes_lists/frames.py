"""The lists of a recording as tables, with the durations that its KPIs and plots are of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from perfanalysis.documents import parse_time, text_or_none
from perfanalysis.kubernetes_lists.jobs import KINDS, job_row, joined
from perfanalysis.kubernetes_lists.model import Item
from perfanalysis.kubernetes_lists.nodes import offered_by
from perfanalysis.kubernetes_lists.pods import pod_row
from perfanalysis.kubernetes_lists.reading import read_list
from perfanalysis.kubernetes_lists.stamps import Stamps

if TYPE_CHECKING:
    import pandas as pd

    from perfanalysis.source import Source

POD_DURATIONS = (
    ("scheduled_after_s", "created_s", "scheduled_s"),
    ("ready_after_s", "created_s", "ready_s"),
    ("running_after_s", "created_s", "running_s"),
    ("finished_after_s", "created_s", "finished_s"),
)
JOB_DURATIONS = (
    ("admitted_after_s", "created_s", "admitted_s"),
    ("started_after_s", "created_s", "started_s"),
    ("finished_after_s", "created_s", "finished_s"),
    ("ran_s", "started_s", "finished_s"),
)
Rows = list[dict[str, Any]]
MARKER, KIND = "kubernetes_objects.json", "kubernetes-objects"


def tables_of(source: Source, pattern: str) -> dict[str, pd.DataFrame | Rows]:
    """The tables `pods`, `jobs` and `tests` of all lists that match a declared pattern, whatever they are called.

    The one row of `tests` is the document of the recording and what the nodes offer.

    Damaged lists, entries that are no objects and stamps that make no sense become findings of the source.
    """
    stamps = Stamps()
    pods: Rows = []
    jobs: Rows = []
    nodes: list[Item] = []
    other: Counter[str] = Counter()
    for name in source.names(pattern):
        if name == MARKER:
            continue
        for item in _items(source, name):
            kind = _kind(item)
            if kind == "Pod":
                pods.append(pod_row(item, stamps))
            elif kind == "Node":
                nodes.append(item)
            elif kind in KINDS:
                jobs.append(job_row(item, stamps))
            else:
                other[kind] += 1
    if other:
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(other.items()))
        source.find("note", pattern, f"objects of kinds that are not looked at: {told}")
    if stamps.unreadable:
        source.find("error", pattern, f"{stamps.unreadable} stamps are no times with a zone; they count as missing")
    jobs = joined(jobs)
    return {
        "pods": _with_durations(source, pattern, pods, POD_DURATIONS) if pods else pods,
        "jobs": _with_durations(source, pattern, jobs, JOB_DURATIONS) if jobs else jobs,
        "tests": [{**_test(source), **offered_by(nodes)}],
    }


def _test(source: Source) -> dict[str, Any]:
    """What the recording's document says of the test."""
    document = source.document(MARKER, KIND)
    return {
        "test": text_or_none(document.get("test")),
        "started_s": parse_time(document.get("started")),
        "ended_s": parse_time(document.get("ended")),
    }


def _items(source: Source, name: str) -> Iterable[Item]:
    try:
        read = read_list(source.path(name).read_bytes())
    except OSError as error:
        source.find("error", name, f"the file cannot be read: {error}")
        return ()
    if read.left_out:
        source.find("error", name, f"{read.left_out} entries are no Kubernetes objects and were left out")
    if read.problem is not None:
        source.find("error", name, read.problem)
    return read.items


def _kind(item: Item) -> str:
    """What an object is; old dumps of pods do not say it."""
    if item.kind is None and item.spec is not None and item.spec.node_name is not None:
        return "Pod"
    return item.kind or "no kind"


def _with_durations(
    source: Source, pattern: str, rows: Rows, durations: tuple[tuple[str, str, str], ...]
) -> pd.DataFrame:
    """The rows with the seconds between two of their stamps; one that is negative is no duration, and counted."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=list(rows[0]))
    negative: Counter[str] = Counter()
    for name, begin, end in durations:
        lasted = frame[end].astype("float64") - frame[begin].astype("float64")
        negative[f"{end} before {begin}"] += int((lasted < 0).sum())
        frame[name] = lasted.where(lasted >= 0)
    told = ", ".join(f"{count} with {what}" for what, count in negative.items() if count)
    if told:
        source.find("warning", pattern, f"stamps that contradict each other: {told}; these durations are missing")
    return frame
