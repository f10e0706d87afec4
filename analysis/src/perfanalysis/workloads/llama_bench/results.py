"""Results of llama-bench, its JSON, as rows of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

_NS = 1e9
# the phase, by whether a test has a prompt and whether it generates
_PHASES = {(True, False): "prompt", (False, True): "generation", (True, True): "both"}


def test_row(result: Mapping[str, Any], offset_s: float) -> dict[str, Any]:
    """Return a test; *offset_s* is how many seconds the host's clock was ahead."""
    prompt, generated, depth = (result.get(name, 0) for name in ("n_prompt", "n_gen", "n_depth"))
    started = datetime.fromisoformat(result["test_time"]).timestamp() - offset_s
    # llama-bench's own names of its tests
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


def repetition_rows(result: Mapping[str, Any], test: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the repetitions of a test; *test* is its row."""
    for number, took_ns in enumerate(result["samples_ns"], start=1):
        named = {name: test[name] for name in ("test", "phase", "tokens")}
        yield {**named, "number": number, "took_s": took_ns / _NS, "tokens_per_s": test["tokens"] * _NS / took_ns}
