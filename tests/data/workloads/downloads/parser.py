"""Parse the files of a download test's clients."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.percentiles import Value


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each line of a client's file, and the servers of downloads.json."""
    transfers = []
    for record in source.records("clients/*.jsonl"):
        start, end = record.get("start"), record.get("end")
        took = end - start if isinstance(start, int | float) and isinstance(end, int | float) else None
        transfers.append({**record, "started_s": start, "ended_s": end, "took_s": took})
    document = source.json("downloads.json")
    servers = document.get("servers", []) if isinstance(document, dict) else []
    return {"transfers": transfers, "servers": servers}


def throughput(tables: Any) -> Value:
    """Return bytes a second over the whole test."""
    ends, starts = tables.transfers["ended_s"].dropna(), tables.transfers["started_s"].dropna()
    if not len(ends) or not len(starts) or ends.max() <= starts.min():
        return Value(None, "no transfer has a beginning and an end")
    return Value(float(tables.transfers["size_bytes"].sum() / (ends.max() - starts.min())))
