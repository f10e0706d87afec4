"""Read samples of a host's processors and memory."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.source import Source


def parse(source: Source) -> dict[str, Any]:
    """A row for each sample of cpu_ram_usage.jsonl."""
    return {"samples": list(source.records("cpu_ram_usage.jsonl"))}
