"""The program of the image aiperf: aiperf's command line, and its requests as results of llm-load-test."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from perflab.building.aiperf_packages import REQUIREMENTS
from perflab.building.commands import pinned
from perflab.worker.load_client import aiperf_test

CONFIG: dict[str, Any] = {
    "dataset": {"max_input_tokens": 32, "max_output_tokens": 16},
    "load_options": {"type": "constant", "concurrency": 4, "duration": 5},
    "plugin_options": {"model_name": "tiny", "host": "http://here", "endpoint": "/v1/completions"},
}
MOMENTS = {"request_start_ns": 2_000_000_000, "request_end_ns": 3_500_000_000}
ANSWERED = {
    "metadata": MOMENTS,
    "metrics": {
        "time_to_first_token": {"value": 250.0, "unit": "ms"},
        "input_sequence_length": {"value": 34, "unit": "tokens"},
        "output_sequence_length": {"value": 16, "unit": "tokens"},
    },
}
REFUSED = {"metadata": MOMENTS, "metrics": {}, "error": {"code": 503, "type": "HTTP", "message": "no such model"}}


def test_requests_become_results_of_llm_load_test() -> None:
    found = aiperf_test.results(map(json.dumps, (ANSWERED, REFUSED)), CONFIG)
    answered, refused = found["results"]
    assert (answered["start_time"], answered["first_token_time"], answered["end_time"]) == (2.0, 2.25, 3.5)
    assert (answered["ttft"], answered["input_tokens"], answered["output_tokens"]) == (250.0, 34, 16)
    assert (refused["error_code"], refused["error_text"]) == (503, "no such model")
    assert found["summary"] == {"total_requests": 2, "total_failures": 1}


def test_command_line_has_the_load_of_the_configuration() -> None:
    words = aiperf_test.command(CONFIG, Path("/tokenizer"), Path("/results"))
    options = dict(itertools.pairwise(words))
    assert (options["--concurrency"], options["--benchmark-duration"], options["--url"]) == ("4", "5", "http://here")
    assert (options["--synthetic-input-tokens-mean"], options["--output-tokens-mean"]) == ("32", "16")


def test_tokenizer_has_a_token_for_each_byte(tmp_path: Path) -> None:
    aiperf_test.write_tokenizer(tmp_path)
    vocabulary = json.loads((tmp_path / "tokenizer.json").read_text())["model"]["vocab"]
    assert len(vocabulary) == 257
    # as Hugging Face writes a space and a newline
    assert {"Ġ", "Ċ", "a", "<eos>"} <= set(vocabulary)


def test_packages_are_pinned() -> None:
    pins = pinned(REQUIREMENTS)
    assert pins["aiperf"] == "0.13.0"
    assert all(pins.values())
