"""vLLM's own benchmark, `vllm bench serve`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import (
    API_KEY,
    CHAT,
    PATHS,
    Folders,
    Generator,
    Installation,
    Invocation,
    Load,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import Counts, reading_results

_RESULTS = "benchmark.json"
# more than a trace has: --no-oversample ends at its last request
_WHOLE_TRACE = 10_000_000
_UNIFORM = "its random lengths are uniform around the mean; use fixed lengths"


def _refuse(given: Mapping[str, Any]) -> None:
    if not (given.get("requests") or given.get("trace_file")):
        raise UsageError("vllm-bench cannot use a load without requests: it sends a number of them; set requests")


def _invoke(load: Load, folders: Folders) -> Invocation:
    environment = {"OPENAI_API_KEY": API_KEY} if load.api_key else {}
    return Invocation(("bench", "serve", *_options(load, folders)), environment=environment)


def _options(load: Load, folders: Folders) -> Iterator[str]:
    yield from ("--backend", "openai-chat" if load.api == CHAT else "openai", "--endpoint", PATHS[load.api])
    yield from ("--base-url", load.endpoint_url, "--model", load.model, "--tokenizer", folders.tokenizer(load))
    yield from ("--save-result", "--save-detailed", "--result-dir", folders.results, "--result-filename", _RESULTS)
    yield from ("--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "90,95,99", "--disable-tqdm")
    yield from ("--seed", str(load.seed), "--num-prompts", str(load.requests or _WHOLE_TRACE))
    if load.ignore_eos:
        yield "--ignore-eos"
    if load.rate:
        yield from ("--request-rate", f"{load.rate:g}")
    if load.concurrency:
        yield from ("--max-concurrency", str(load.concurrency))
    yield from _data(load, folders)


def _data(load: Load, folders: Folders) -> Iterator[str]:
    if load.trace_file:
        # Mooncake's times are in ms, and each of its hashes is of 512 tokens
        yield from ("--dataset-name", "timed_trace", "--dataset-path", folders.input(load.trace_file))
        yield from ("--timed-trace-sec-multiplier", "0.001", "--timed-trace-chunk-hash-size", "512", "--no-oversample")
    elif load.prefix_tokens:
        yield from ("--dataset-name", "prefix_repetition", "--prefix-repetition-num-prefixes", str(load.prefixes))
        yield from ("--prefix-repetition-prefix-len", str(load.prefix_tokens))
        yield from ("--prefix-repetition-suffix-len", str(load.input_tokens))
        yield from ("--prefix-repetition-output-len", str(load.output_tokens))
    else:
        yield from ("--dataset-name", "random", "--random-input-len", str(load.input_tokens))
        yield from ("--random-output-len", str(load.output_tokens))


def _count(folder: Path) -> Counts:
    with reading_results("vllm-bench", _RESULTS):
        errors = json.loads((folder / _RESULTS).read_bytes())["errors"]
        reasons = [text.strip().rpartition("\n")[2] for text in errors if text]
        return Counts(len(errors), len(reasons), reasons[0] if reasons else "")


VLLM_BENCH = Generator(
    name="vllm-bench",
    program="vllm",
    installation=Installation(("vllm==0.32.0",), "0.32.0", ("3.12", "3.13"), 10, 10),
    results={_RESULTS: f"results/{_RESULTS}"},
    cannot={
        "duration": "it sends a number of requests; set requests",
        "input_tokens_stdev": _UNIFORM,
        "input_tokens_min": _UNIFORM,
        "input_tokens_max": _UNIFORM,
        "output_tokens_stdev": _UNIFORM,
        "output_tokens_min": _UNIFORM,
        "output_tokens_max": _UNIFORM,
        "data_file": "its data sets have formats of their own; use synthetic lengths",
        "trace_format": "it replays the requests of Mooncake at their times; use inference-perf for conversations",
        "turns": "its conversations need another of its programs",
        "streaming": "it measures streams only",
    },
    single_process=True,
    invoke=_invoke,
    count=_count,
    refuse=_refuse,
)
