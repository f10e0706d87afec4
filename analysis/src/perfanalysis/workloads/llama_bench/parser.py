"""Read what llama-bench measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from perfanalysis.files.source import Source

_NS = 1e9
# what is worked on, by whether a test has a prompt and whether it generates
_PHASES = {(True, False): "prompt", (False, True): "generation", (True, True): "both"}


def parse(source: Source) -> dict[str, Any]:
    """A row for each test of llama_bench.yml, and one for each of its repetitions."""
    (document,) = source.records("llama_bench.yml")
    offset = document["clock"]["offset_s"]
    tests = [(result, _test(result, offset)) for result in document["results"]]
    server = {"server": document["server"], "model": PurePosixPath(document["model"]).name}
    return {
        "repetitions": [row for result, test in tests for row in _repetitions(result, test)],
        "tests": [server | test for _result, test in tests],
    }


def _test(result: Mapping[str, Any], offset_s: float) -> dict[str, Any]:
    prompt, generated, depth = (result.get(name, 0) for name in ("n_prompt", "n_gen", "n_depth"))
    started = datetime.fromisoformat(result["test_time"]).timestamp() - offset_s
    # as llama-bench itself names its tests
    names = [*([f"pp{prompt}"] if prompt else []), *([f"tg{generated}"] if generated else [])]
    return {
        "test": "+".join(names) + (f" @ d{depth}" if depth else ""),
        "phase": _PHASES[prompt > 0, generated > 0],
        "tokens": prompt + generated,
        "started_s": started,
        "ended_s": started + sum(result["samples_ns"]) / _NS,
        "architecture": result["model_type"],
        "model_bytes": result["model_size"],
        "parameters": result["model_n_params"],
        "backends": result.get("backends") or "unknown",
        "device": result.get("gpu_info") or result["cpu_info"],
        "gpu_layers": result["n_gpu_layers"],
        "threads": result["n_threads"],
        "build": result["build_commit"],
    }


def _repetitions(result: Mapping[str, Any], test: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for number, took_ns in enumerate(result["samples_ns"], start=1):
        named = {name: test[name] for name in ("test", "phase", "tokens")}
        yield {**named, "number": number, "took_s": took_ns / _NS, "tokens_per_s": test["tokens"] * _NS / took_ns}
