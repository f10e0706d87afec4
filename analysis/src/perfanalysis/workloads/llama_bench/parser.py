"""Read the results of llama-bench."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.llama_bench.results import repetition_rows, test_row


def parse(source: RecordingFiles) -> dict[str, Any]:
    """Return a row for each test of llama_bench.yml, and one for each of its repetitions."""
    (document,) = source.records("llama_bench.yml")
    offset = document["clock"]["offset_s"]
    tests = [(result, test_row(result, offset)) for result in document["results"]]
    server = {"server": document["server"], "model": PurePosixPath(document["model"]).name}
    return {
        "repetitions": [row for result, test in tests for row in repetition_rows(result, test)],
        "tests": [server | test for _result, test in tests],
    }
