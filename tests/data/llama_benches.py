"""Output of llama-bench, recorded from llama.cpp on the tests' tiny model with three repetitions."""

from __future__ import annotations

from typing import Any

_COMMON = {
    "build_commit": "0c1e570",
    "build_number": 1,
    "cpu_info": "Intel(R) Xeon(R) Processor",
    "gpu_info": "",
    "backends": "CPU",
    "model_filename": "tiny.gguf",
    "model_type": "llama ?B all F32",
    "model_size": 475392,
    "model_n_params": 118848,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_threads": 2,
    "n_gpu_layers": 99,
    "n_depth": 0,
    "test_time": "2026-11-26T02:10:51Z",
}


def llama_bench() -> dict[str, Any]:
    """Write a recording from a host whose clock is an hour ahead."""
    prompt = {"n_prompt": 512, "n_gen": 0, "avg_ns": 9072680, "avg_ts": 56451.414513, "stddev_ts": 1237.499975}
    generation = {"n_prompt": 0, "n_gen": 128, "avg_ns": 10571277, "avg_ts": 12108.485544, "stddev_ts": 61.043149}
    return {
        "schema": "psap.perf/llama_bench/1",
        "server": "llama_cpp",
        "model": "tiny.gguf",
        "clock": {"offset_s": 3600.0, "within_s": 0.2},
        "results": [
            {**_COMMON, **prompt, "samples_ns": [8911818, 9297667, 9008555]},
            {**_COMMON, **generation, "samples_ns": [10510236, 10607271, 10596326]},
        ],
    }


def inference_server(ready_s: float) -> dict[str, Any]:
    """Write a server that was ready after this time."""
    document = {"schema": "psap.perf/inference_server/1", "server": "llama_cpp", "ready_s": ready_s}
    return {**document, "model": "/models/tiny.gguf", "models": ["tiny.gguf"]}
