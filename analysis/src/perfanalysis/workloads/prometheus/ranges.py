"""The windows of a run that Prometheus was asked about: their documents, their samples, and when they were."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfanalysis.files.discovery import MONITORING, Place
from perfanalysis.files.documents import listing, number_or, text_or_none
from perfanalysis.files.findings import Finding
from perfanalysis.files.source import Source, TableSource
from perfanalysis.workloads.prometheus.reading import SAMPLES, RangeTables, read_answer

if TYPE_CHECKING:
    import pandas as pd

(MARKER,) = MONITORING
KIND = "prometheus-queries"


@dataclass(frozen=True)
class Ranges:
    """One window: what was asked from `start_s` to `end_s`, at steps of `step_s` where it was computed."""

    place: Place
    start_s: float
    end_s: float
    step_s: float
    samples: pd.DataFrame

    def overlaps(self, start_s: float, end_s: float) -> bool:
        """Whether they have a time in common."""
        return self.start_s <= end_s and start_s <= self.end_s


def parse(source: Source) -> RangeTables:
    """The samples of all answers that the document lists; one that cannot be read, or was refused, is a finding."""
    import pandas as pd

    frames = [SAMPLES.empty()]
    for entry in listing(source.document(MARKER, KIND).get("queries")):
        told = entry if isinstance(entry, dict) else {}
        name, file = text_or_none(told.get("name")) or "", text_or_none(told.get("file"))
        where = f"{source.place.relative}/{file or MARKER}"
        if file is None:
            source.findings += (Finding("warning", where, f"the query {name} was not answered: {told.get('error')}"),)
            continue
        if not source.declares(file):
            source.find("error", file, "the answer was not read: it is no JSON file beside the queries")
            continue
        try:
            frames.append(read_answer(source.path(file), name))
        except (OSError, ValueError) as error:
            source.findings += (Finding("error", where, f"the answer cannot be read: {error}"),)
    joined = pd.concat([frame.astype("object") for frame in frames], ignore_index=True)
    return RangeTables(SAMPLES.conform(joined))


RANGES = TableSource(
    name="prometheus",
    version=1,
    files=(MARKER, "*.json"),
    tables=RangeTables,
    parse=parse,
)


def ranges_of(place: Place, tables: RangeTables) -> Ranges:
    """The window with its samples; where the document does not tell it, from the first sample to the last."""
    document = Source(place).document(MARKER, KIND)
    times = tables.prometheus_samples["at_s"]
    first, last = (float(times.min()), float(times.max())) if len(times) else (0.0, 0.0)
    return Ranges(
        place=place,
        start_s=number_or(document.get("start_s"), first),
        end_s=number_or(document.get("end_s"), last),
        step_s=number_or(document.get("step_s"), 0.0),
        samples=tables.prometheus_samples,
    )


def labels_of(text: str) -> dict[str, str]:
    """The labels of a series as the table has them."""
    loaded: dict[str, str] = json.loads(text)
    return loaded
