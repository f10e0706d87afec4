"""Runs aiperf with the configuration of llm-load-test, and writes its requests as results of llm-load-test.

It runs as a program, ``load_test.py -c CONFIGURATION``, in an image with aiperf, and reads the configuration as JSON.
aiperf counts the tokens of prompts with a tokenizer whose tokens are bytes, because pods reach no model hub. The tokens
of results are those that the server counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

_GRACE_S = 60
_NS = 1e9
_END = "<eos>"
# bytes that are characters themselves in a vocabulary of bytes; the others follow from 256
_PRINTABLE = (*range(33, 127), *range(161, 173), *range(174, 256))


def command(config: dict[str, Any], tokenizer: Path, folder: Path) -> list[str]:
    """Return aiperf's command line, which writes to *folder*."""
    options, plugin, dataset = config["load_options"], config["plugin_options"], config["dataset"]
    return [
        *(sys.executable, "-m", "aiperf", "profile", "--ui", "none", "--no-server-metrics", "--no-gpu-telemetry"),
        *("--model", plugin["model_name"], "--url", plugin["host"], "--custom-endpoint", plugin["endpoint"]),
        *("--endpoint-type", "completions", "--streaming", "--use-server-token-count"),
        *("--concurrency", str(options["concurrency"]), "--benchmark-duration", str(options["duration"])),
        *("--benchmark-grace-period", str(_GRACE_S), "--synthetic-input-tokens-mean", str(dataset["max_input_tokens"])),
        *("--output-tokens-mean", str(dataset["max_output_tokens"]), "--extra-inputs", "ignore_eos:true"),
        *("--tokenizer", str(tokenizer), "--output-artifact-dir", str(folder)),
    ]


def results(lines: Iterable[str], config: dict[str, Any]) -> dict[str, Any]:
    """Return the results of llm-load-test for the requests in aiperf's `profile_export.jsonl`."""
    found = list(_records(lines))
    return {
        "results": found,
        "config": {
            "load_options": config["load_options"],
            "plugin_options": config["plugin_options"],
            "extra_metadata": {"written_by": "aiperf, not llm-load-test"},
        },
        "summary": {
            "total_requests": len(found),
            "total_failures": sum(one["error_text"] is not None for one in found),
        },
    }


def _records(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        record = json.loads(line)
        moments, error = record["metadata"], record.get("error")
        measures = {name: one["value"] for name, one in (record.get("metrics") or {}).items()}
        began = moments["request_start_ns"] / _NS
        times = {"start_time": began, "end_time": moments["request_end_ns"] / _NS}
        if error:
            yield {**times, "error_code": error.get("code"), "error_text": error.get("message") or str(error)}
        else:
            yield {**times, **_measured(began, measures), "error_code": None, "error_text": None}


def _measured(began: float, measures: dict[str, Any]) -> dict[str, Any]:
    tokens = measures["output_sequence_length"]
    return {
        "first_token_time": began + measures["time_to_first_token"] / 1000,
        "ttft": measures["time_to_first_token"],
        "input_tokens": measures["input_sequence_length"],
        "output_tokens": tokens,
        "output_tokens_before_timeout": tokens,
    }


def write_tokenizer(folder: Path) -> None:
    """Write a tokenizer whose tokens are bytes in the format of Hugging Face."""
    letters = [*map(chr, _PRINTABLE), *map(chr, range(256, 512 - len(_PRINTABLE)))]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [{"id": len(letters), "content": _END, **special}],
        "pre_tokenizer": level,
        "decoder": level,
        "model": {"type": "BPE", "vocab": {text: place for place, text in enumerate([*letters, _END])}, "merges": []},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": _END}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-c", type=Path, required=True)
    config = json.loads(parser.parse_args().c.read_text())
    with tempfile.TemporaryDirectory() as work:
        tokenizer, folder = Path(work, "tokenizer"), Path(work, "results")
        tokenizer.mkdir()
        write_tokenizer(tokenizer)
        done = subprocess.run(command(config, tokenizer, folder), check=False)  # noqa: S603
        export = folder / "profile_export.jsonl"
        if not export.exists():
            sys.exit(done.returncode or 1)
        with export.open() as lines:
            found = results(lines, config)
    output = config["output"]
    Path(output["dir"], output["file"]).write_text(json.dumps(found))


if __name__ == "__main__":
    _main()
