"""Read samples of a host's power, and the tests that ran meanwhile."""

from __future__ import annotations

from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.host_power.energy import energy_row
from perfanalysis.workloads.host_power.powermetrics import samples_of
from perfanalysis.workloads.llama_bench.results import test_row


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each sample of any source, and for each test."""
    (document,) = source.records("power_usage.yml")
    samples = [
        *source.records("power_usage.jsonl", optional=True),
        *samples_of(source.lines("power_usage.txt", optional=True)),
    ]
    # both are times of the host's clock
    tests = [(result, test_row(result, 0.0)) for result in document["tests"]]
    return {
        "samples": samples,
        "sources": [{"source": document["source"]}],
        "tests": [energy_row(test, len(result["samples_ns"]), samples) for result, test in tests],
    }
