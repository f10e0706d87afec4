"""llm-load-test, from an installation or a checkout of the user."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import (
    PATHS,
    Folders,
    Generator,
    Invocation,
    Load,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.llm_load_test import OPENAI, OUTPUT, count_requests
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import Counts

_CONFIG = "llm_load_test_config.json"
_SYNTHETIC = "it takes prompts from a data set, and has no synthetic lengths; set data_file"
_MOST_QUERIES = 3000


def _refuse(given: Mapping[str, Any]) -> None:
    if not given.get("data_file"):
        raise UsageError("llm-load-test needs data_file, a data set in its format")
    if not given.get("duration"):
        raise UsageError("llm-load-test needs duration")


def _invoke(load: Load, folders: Folders) -> Invocation:
    url = urlsplit(load.endpoint_url)
    config = {
        "output": {"format": "json", "dir": folders.results, "file": OUTPUT},
        "storage": {"type": "local"},
        "warmup": False,
        "dataset": {
            "file": folders.input(load.data_file),
            "max_queries": _MOST_QUERIES,
            "min_input_tokens": load.input_tokens_min,
            "max_input_tokens": load.input_tokens_max or load.input_tokens,
            "min_output_tokens": load.output_tokens_min,
            "max_output_tokens": load.output_tokens_max or load.output_tokens,
            "max_sequence_tokens": (load.input_tokens_max or load.input_tokens)
            + (load.output_tokens_max or load.output_tokens),
        },
        "load_options": {"type": "constant", "concurrency": load.concurrency, "duration": load.duration},
        "plugin": OPENAI,
        "plugin_options": {
            "use_tls": url.scheme == "https",
            "streaming": load.streaming,
            "model_name": load.model,
            "host": f"{url.scheme}://{url.netloc}",
            "endpoint": f"{url.path}{PATHS[load.api]}",
        },
    }
    return Invocation(("-c", f"{folders.inputs}/{_CONFIG}"), {_CONFIG: json.dumps(config, indent=2)})


def _count(folder: Path) -> Counts:
    return count_requests(folder / OUTPUT)


LLM_LOAD_TEST = Generator(
    name="llm-load-test",
    program="load-test",
    installation=None,
    results={OUTPUT: f"output/{OUTPUT}"},
    cannot={
        "rate": "its users send one request after the other; set concurrency",
        "requests": "its load has a duration",
        "input_tokens_stdev": _SYNTHETIC,
        "output_tokens_stdev": _SYNTHETIC,
        "trace_file": "it replays no traces; use aiperf",
        "turns": "its requests have one turn",
        "prefix_tokens": _SYNTHETIC,
        "api_key": "its configuration would contain the key",
    },
    single_process=False,
    invoke=_invoke,
    count=_count,
    refuse=_refuse,
)
