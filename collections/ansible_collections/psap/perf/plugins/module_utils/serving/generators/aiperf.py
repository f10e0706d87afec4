"""NVIDIA's aiperf."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import (
    Folders,
    Generator,
    Installation,
    Invocation,
    Load,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import Counts

_EXPORT = "profile_export.jsonl"
_SUMMARY = "profile_export_aiperf.json"
_GRACE_S = 60


def _refuse(given: Mapping[str, Any]) -> None:
    if given.get("prefixes", 1) > 1 and not given.get("prefix_tokens"):
        raise UsageError("prefixes needs prefix_tokens, the length of each")


def _invoke(load: Load, folders: Folders) -> Invocation:
    return Invocation(("profile", *_options(load, folders)))


def _options(load: Load, folders: Folders) -> Iterator[str]:
    yield from ("--ui", "none", "--no-server-metrics", "--no-gpu-telemetry", "--use-server-token-count")
    yield from ("--model", load.model, "--url", load.endpoint_url, "--endpoint-type", load.api)
    yield from ("--tokenizer", folders.tokenizer(load), "--output-artifact-dir", folders.results)
    yield from ("--random-seed", str(load.seed))
    if load.streaming:
        yield "--streaming"
    if load.ignore_eos:
        yield from ("--extra-inputs", "ignore_eos:true")
    if load.rate:
        yield from ("--request-rate", f"{load.rate:g}")
    elif load.concurrency:
        yield from ("--concurrency", str(load.concurrency))
    if load.duration:
        yield from ("--benchmark-duration", str(load.duration), "--benchmark-grace-period", str(_GRACE_S))
    if load.requests:
        yield from ("--request-count", str(load.requests))
    yield from _data(load, folders)


def _data(load: Load, folders: Folders) -> Iterator[str]:
    if load.trace_file:
        yield from ("--input-file", folders.input(load.trace_file), "--custom-dataset-type", "mooncake_trace")
        yield "--fixed-schedule"
        return
    if load.data_file:
        yield from ("--input-file", folders.input(load.data_file), "--custom-dataset-type", "single_turn")
    else:
        yield from ("--synthetic-input-tokens-mean", str(load.input_tokens))
        yield from ("--synthetic-input-tokens-stddev", str(load.input_tokens_stdev))
    yield from ("--output-tokens-mean", str(load.output_tokens))
    yield from ("--output-tokens-stddev", str(load.output_tokens_stdev))
    if load.turns > 1:
        yield from ("--session-turns-mean", str(load.turns), "--session-turns-stddev", "0")
    if load.prefix_tokens:
        yield from ("--prefix-prompt-length", str(load.prefix_tokens), "--num-prefix-prompts", str(load.prefixes))


def _count(folder: Path) -> Counts:
    requests = failed = 0
    reason = ""
    try:
        with (folder / _EXPORT).open("rb") as lines:
            for line in lines:
                requests += 1
                if error := json.loads(line).get("error"):
                    failed += 1
                    reason = reason or str(error.get("message") or error)
    except FileNotFoundError as error:
        raise DataQualityError(f"aiperf left no {_EXPORT}") from error
    except (ValueError, AttributeError) as error:
        raise DataQualityError(f"{_EXPORT} of aiperf cannot be read at line {requests}: {error}") from error
    return Counts(requests, failed, reason)


AIPERF = Generator(
    name="aiperf",
    program="aiperf",
    installation=Installation(("aiperf==0.13.0",), "0.13.0", ("3.11", "3.12", "3.13"), 0.9, 4),
    results={_EXPORT: f"results/{_EXPORT}", _SUMMARY: f"results/{_SUMMARY}"},
    cannot={
        "input_tokens_min": "it has no bounds of lengths; use input_tokens_stdev alone",
        "input_tokens_max": "it has no bounds of lengths; use input_tokens_stdev alone",
        "output_tokens_min": "it has no bounds of lengths; use output_tokens_stdev alone",
        "output_tokens_max": "it has no bounds of lengths; use output_tokens_stdev alone",
        "trace_format": "it replays the requests of Mooncake at their times; use inference-perf for conversations",
        "api_key": "it accepts the key only on its command line, where other users of the machine can read it",
    },
    single_process=False,
    invoke=_invoke,
    count=_count,
    refuse=_refuse,
)
