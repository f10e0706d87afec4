"""The load of a generator whose results do not state it: the command writes it into the document beside them."""

from __future__ import annotations

from typing import Any

from perfanalysis.drawing.wording import counted
from perfanalysis.files.documents import finite_number, mapping, text_or_none
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.load_test.document import KIND


def stage_row(source: RecordingFiles, marker: str) -> dict[str, Any]:
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
