"""guidellm, since version 0.7."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import (
    API_KEY,
    PATHS,
    Folders,
    Generator,
    Installation,
    Invocation,
    Load,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.guidellm import OUTPUT, count_requests, pairs
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import Counts

_KINDS_OF_FILES = {".csv": "csv_file", ".json": "json_file", ".jsonl": "json_file", ".parquet": "parquet_file"}


def _invoke(load: Load, folders: Folders) -> Invocation:
    environment = {"GUIDELLM__SPEC__BACKEND__API_KEY": API_KEY} if load.api_key else {}
    return Invocation(("run", *_options(load, folders)), environment=environment)


def _options(load: Load, folders: Folders) -> Iterator[str]:
    backend = {"kind": "openai_http", "target": load.endpoint_url, "model": load.model}
    yield from ("--backend", pairs({**backend, "request_format": PATHS[load.api]}))
    profile = {"kind": "poisson", "rate": load.rate} if load.rate else {"kind": "concurrent"}
    yield from ("--profile", pairs({**profile, "streams": 0 if load.rate else load.concurrency}))
    if load.duration:
        yield from ("--constraint", pairs({"kind": "max_duration", "seconds": load.duration}))
    if load.requests:
        yield from ("--constraint", pairs({"kind": "max_requests", "count": load.requests}))
    yield from ("--tokenizer", pairs({"kind": "hf_auto", "model": folders.tokenizer(load)}))
    yield from ("--data", pairs(_data(load, folders)))
    yield from ("--output", pairs({"kind": "json", "path": f"{folders.results}/{OUTPUT}"}))
    yield "--disable-console-interactive"


def _data(load: Load, folders: Folders) -> dict[str, object]:
    if load.data_file:
        kind = _KINDS_OF_FILES.get(Path(load.data_file).suffix, "text_file")
        return {"kind": kind, "path": folders.input(load.data_file)}
    return {
        "kind": "synthetic_text",
        "prompt_tokens": load.input_tokens,
        "prompt_tokens_stdev": load.input_tokens_stdev,
        "prompt_tokens_min": load.input_tokens_min,
        "prompt_tokens_max": load.input_tokens_max,
        "output_tokens": load.output_tokens,
        "output_tokens_stdev": load.output_tokens_stdev,
        "output_tokens_min": load.output_tokens_min,
        "output_tokens_max": load.output_tokens_max,
        "turns": 0 if load.turns == 1 else load.turns,
        "prefix_tokens": load.prefix_tokens,
        "prefix_count": load.prefixes if load.prefix_tokens else 0,
    }


def _count(folder: Path) -> Counts:
    return count_requests(folder / OUTPUT)


GUIDELLM = Generator(
    name="guidellm",
    program="guidellm",
    installation=Installation(("guidellm==0.8.1",), "0.8.1", ("3.11", "3.12", "3.13"), 5.9, 10),
    results={OUTPUT: f"results/{OUTPUT}"},
    cannot={
        "trace_file": "it replays no traces with a schedule of prefixes; use aiperf",
        "streaming": "its requests of this command are always streamed",
    },
    single_process=False,
    invoke=_invoke,
    count=_count,
)
