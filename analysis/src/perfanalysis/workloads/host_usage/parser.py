"""Read samples of a host's processors and memory."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each sample of cpu_ram_usage.jsonl."""
    return {"samples": list(source.records("cpu_ram_usage.jsonl"))}
