"""The load of a generator whose results do not state it: the command writes it into the document beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from perfanalysis.drawing.wording import counted
from perfanalysis.files.documents import Document, finite_number, mapping, text_or_none
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.load_test.agreement import Stated, find_disagreements, rows
from perfanalysis.workloads.load_test.document import KIND
from perfanalysis.workloads.load_test.tables import COMPLETED, STAGES, STATED, LoadTables, RequestColumns

if TYPE_CHECKING:
    import pandas as pd


class Summary(NamedTuple):
    """The summary that a generator writes: its file and its contents."""

    file: str
    content: Document


def summary_of(source: RecordingFiles, file: str) -> Summary:
    """Return the summary in a file; without contents if the file is missing."""
    return Summary(file, mapping(source.json(file, optional=True)))


def monotonic_offset(source: RecordingFiles, document: Document, records: str) -> float:
    """Return the seconds since the epoch at the zero of the generator's monotonic clock; 0 and a finding if unknown."""
    offset = finite_number(document.get("monotonic_offset_s"))
    if offset is None:
        source.find("warning", records, "times are of a pod's own clock, so they do not align with other recordings")
    return offset or 0.0


def one_stage(
    source: RecordingFiles,
    marker: str,
    summary: Summary | None,
    columns: RequestColumns,
    stated: Callable[[Document, pd.DataFrame], Iterable[Stated]],
) -> LoadTables:
    """Return the tables of requests of one stage, and the comparison of the generator's summary with them.

    Args:
        summary: The generator's summary; None if it writes none.
        stated: Returns the values of the summary, with the completed requests that they are about.
    """
    requests = columns.frame([0], [0])
    completed = requests[requests["outcome"].to_numpy() == COMPLETED]
    tables = LoadTables(
        requests=requests,
        stages=STAGES.of_rows([_stage_row(source, marker)] if len(columns.lists) else []),
        stated=STATED.of_rows(list(rows(list(stated(summary.content if summary else {}, completed))))),
    )
    if summary:
        find_disagreements(source, summary.file, tables.stated)
    return tables


def stated_latency(given: Document, names: Mapping[str, str], per_second: float, values: pd.Series) -> Stated:
    """Return the statistics of one latency in a summary.

    Args:
        names: Our names of the statistics, by the generator's.
        per_second: How many of the summary's units are a second.
        values: The latencies of the completed requests in seconds; the name of the column ends with ``_s``.
    """
    numbers = {ours: finite_number(given.get(theirs)) for theirs, ours in names.items()}
    known = {statistic: number / per_second for statistic, number in numbers.items() if number is not None}
    return Stated(0, str(values.name).removesuffix("_s"), known, values.to_numpy(dtype=float))


def stated_count(number: float | None, completed: pd.DataFrame) -> Iterable[Stated]:
    """Yield the number of completed requests in a summary, if it has one."""
    if number is not None:
        yield Stated(0, "completed requests", {"count": number}, np.ones(len(completed)))


def _stage_row(source: RecordingFiles, marker: str) -> dict[str, Any]:
    """Return the row of the only stage."""
    load = mapping(source.document(marker, KIND).get("load"))
    concurrency, rate = (finite_number(load.get(name)) for name in ("concurrency", "rate"))
    words = "trace"
    if rate is not None:
        words = f"{rate:.3g} requests/s"
    elif concurrency is not None:
        words = counted(int(concurrency), "user")
    row = {"stage": 0, "load": words, "concurrency": concurrency, "rate": rate}
    return {**row, "model": text_or_none(load.get("requested_model"))}
