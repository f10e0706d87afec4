"""inference-perf of kubernetes-sigs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import (
    CHAT,
    COMPLETIONS,
    MOONCAKE,
    Folders,
    Generator,
    Installation,
    Invocation,
    Load,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import Counts, reading_results

_CONFIG = "inference_perf.json"
_RECORDS = "per_request_lifecycle_metrics.json"
_SUMMARY = "summary_lifecycle_metrics.json"
_WITHOUT_TURNS = "its conversations need recorded sessions"


def _invoke(load: Load, folders: Folders) -> Invocation:
    config = {
        "api": {"type": "chat" if load.api == CHAT else "completion", "streaming": load.streaming},
        "server": {
            "type": "vllm",
            "model_name": load.model,
            "base_url": load.endpoint_url,
            "ignore_eos": load.ignore_eos,
        },
        "tokenizer": {"pretrained_model_name_or_path": folders.tokenizer(load)},
        "data": _replay(load, folders) if load.trace_file else _data(load),
        "load": {**_pattern(load), "base_seed": load.seed, "interval": 0},
        # counts of the server, as with the other generators
        "report": {"request_lifecycle": {"per_request": True, "use_server_output_tokens": True}},
        "storage": {"local_storage": {"path": folders.results}},
    }
    return Invocation(("--config_file", f"{folders.inputs}/{_CONFIG}"), {_CONFIG: json.dumps(config, indent=2)})


def _refuse(given: Mapping[str, Any]) -> None:
    if given.get("trace_file"):
        _refuse_trace(given)
        return
    if given.get("rate") and given.get("requests"):
        raise UsageError("inference-perf cannot use requests with a rate: its stages have a duration; set duration")
    if not (given.get("rate") or given.get("requests")):
        raise UsageError(
            "inference-perf cannot use duration with concurrency: its stages have a number of requests; set requests"
        )


def _refuse_trace(given: Mapping[str, Any]) -> None:
    if given.get("trace_format", MOONCAKE) == MOONCAKE:
        raise UsageError(
            "inference-perf cannot use trace_format mooncake: it replays conversations, otel or weka; use aiperf"
        )
    if given.get("api", COMPLETIONS) != CHAT:
        raise UsageError("inference-perf cannot use api completions with a trace: conversations are chats; set chat")
    for name in ("rate", "duration", "requests"):
        if given.get(name):
            raise UsageError(f"inference-perf cannot use {name} with a trace: it replays all conversations; set 0")


def _pattern(load: Load) -> Mapping[str, Any]:
    if load.trace_file:
        return {"type": "trace_session_replay", "stages": [{"concurrent_sessions": load.concurrency}]}
    if load.rate:
        return {"type": "poisson", "stages": [{"rate": load.rate, "duration": load.duration}]}
    stage = {"concurrency_level": load.concurrency, "num_requests": load.requests}
    return {"type": "concurrent", "stages": [stage]}


def _data(load: Load) -> Mapping[str, Any]:
    asked = _distribution(load.input_tokens, load.input_tokens_stdev, load.input_tokens_min, load.input_tokens_max)
    answers = _distribution(
        load.output_tokens, load.output_tokens_stdev, load.output_tokens_min, load.output_tokens_max
    )
    if not load.prefix_tokens:
        return {"type": "random", "input_distribution": asked, "output_distribution": answers}
    prefix = {
        "num_groups": load.prefixes,
        "num_prompts_per_group": max(1, -(-load.requests // load.prefixes)),
        "system_prompt_len": load.prefix_tokens,
        "question_distribution": asked,
        "output_distribution": answers,
        "seed": load.seed,
    }
    return {"type": "shared_prefix", "shared_prefix": prefix}


def _replay(load: Load, folders: Folders) -> Mapping[str, Any]:
    kind = f"{load.trace_format}_trace_replay"
    files = [folders.input(load.trace_file)]
    return {
        "type": kind,
        kind: {"trace_files": files, "use_static_model": True, "static_model_name": load.model},
    }


def _distribution(mean: int, deviation: int, lowest: int, highest: int) -> Mapping[str, int]:
    spread = 4 * deviation
    return {
        "mean": mean,
        "std_dev": deviation,
        "min": lowest or max(1, mean - spread),
        "max": highest or mean + spread,
    }


def _count(folder: Path) -> Counts:
    with reading_results("inference-perf", _SUMMARY):
        found = json.loads((folder / _SUMMARY).read_bytes())
        completed, failures = found["successes"]["count"], found["failures"]
        reason = next(iter(failures.get("by_label") or {}), "the results have no reason")
        return Counts(completed + failures["count"], failures["count"], reason)


INFERENCE_PERF = Generator(
    name="inference-perf",
    program="inference-perf",
    installation=Installation(("inference-perf==0.7.0",), "0.7.0", ("3.12", "3.13"), 0.7, 3),
    results={_RECORDS: f"results/{_RECORDS}", _SUMMARY: f"results/{_SUMMARY}"},
    cannot={
        "data_file": "its data sets have formats of their own; use synthetic lengths",
        "turns": _WITHOUT_TURNS,
        "api_key": "it accepts the key only in its configuration, which is kept with the results",
    },
    single_process=False,
    invoke=_invoke,
    count=_count,
    refuse=_refuse,
)
