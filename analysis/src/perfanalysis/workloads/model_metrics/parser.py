"""Read the metrics of a model server before and after a load."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return rows for the values that grew, and for the other values after the load."""
    (document,) = source.records("model_metrics.json")
    rows = [
        {**sample, "pod": scrape["pod"], "moment": scrape["moment"]}
        for scrape in document["scrapes"]
        for sample in scrape["samples"]
    ]
    first = {(row["pod"], row["metric"], row["labels"]): row["value"] for row in rows if row["moment"] == "before"}
    last = [row | {"after": row["value"]} for row in rows if row["moment"] == "after"]
    counters = [row | {"before": first.get((row["pod"], row["metric"], row["labels"]), 0.0)} for row in last]
    changed = [
        row | {"change": row["after"] - (row["before"] if row["after"] >= row["before"] else 0.0)} for row in counters
    ]
    return {
        "servers": [{"model": document["model"], **document["facts"]}],
        "counters": [row for row in changed if row["counter"] and row["change"]],
        "gauges": [row for row in last if not row["counter"]],
    }
