"""Results of load generators that never ran: requests of a small queue model, in the formats of guidellm's versions
and of llm-load-test, with the summaries that these programs would write.

For unit tests, benches and pictures. The document beside them lists "synthetic data" among what was simulated.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.data.synthetic_runs import EPOCH

LAB = {"name": "default", "real": [], "emulated": [], "simulated": ["synthetic data"]}
TIMINGS = ("request_start", "first_token_iteration", "last_token_iteration", "request_end")
OLD_TIMINGS = ("request_start", "first_iteration", "last_iteration", "request_end")
OLDEST = ("start_time", "first_token_time", "last_token_time", "end_time")
PERCENTILES = {"p90": 0.90, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True)
class Load:
    """A stage of this many streams; the server answers `slots` of them concurrently; each `failing`th request fails."""

    streams: int = 4
    requests: int = 200
    slots: int = 16
    ttft_s: float = 0.05
    itl_s: float = 0.01
    tokens: int = 40
    failing: int = 0


@dataclass(frozen=True)
class Request:
    """The times of a request in seconds since the epoch: sent, first token, last token."""

    started: float
    first: float
    last: float
    tokens: int
    failed: bool


def requests_of(load: Load, seed: int = 0) -> list[Request]:
    """Return requests: each stream sends the next one after a response; latencies grow with the queue."""
    chance = random.Random(seed)
    waiting = max(1.0, load.streams / load.slots)
    # stages follow one another
    at = [EPOCH + 100.0 * seed + 0.001 * stream for stream in range(load.streams)]
    found = []
    for number in range(load.requests):
        stream = number % load.streams
        started = at[stream]
        first = started + load.ttft_s * waiting**2 * chance.lognormvariate(0, 0.2)
        tokens = chance.randint(load.tokens // 2, 2 * load.tokens)
        last = first + (tokens - 1) * load.itl_s * waiting * chance.lognormvariate(0, 0.05)
        at[stream] = last
        found.append(Request(started, first, last, tokens, bool(load.failing) and number % load.failing == 0))
    return found


def _summary(values: Sequence[float], weights: Sequence[float] | None = None) -> dict[str, Any]:
    ordered = np.sort(np.array(values))
    numbers = {name: float(np.quantile(ordered, share)) for name, share in PERCENTILES.items()}
    mean = float(np.average(values, weights=weights))
    return {"successful": {"mean": mean, "median": float(np.median(ordered)), "percentiles": numbers}}


def _record(one: Request, version: str, padding: str) -> dict[str, Any]:
    times = (one.started, *((one.first, one.last) if not one.failed else (None, None)), one.last)
    record: dict[str, Any] = {"request_id": f"r{one.started}", "output": padding, "prompt_tokens": 128}
    record["output_tokens"] = None if one.failed else one.tokens
    error = '500 "Internal Server Error" }]' if one.failed else None
    if version == "0.3":
        return record | dict(zip(OLDEST, times, strict=True)) | {"error": error}
    names, inside = (OLD_TIMINGS, "request_timings") if version == "0.4" else (TIMINGS, "timings")
    info = {inside: dict(zip(names, times, strict=True)), "error": error}
    return record | {"scheduler_info" if version == "0.4" else "info": info}


def _listed(texts: Iterator[str]) -> Iterator[str]:
    for place, text in enumerate(texts):
        yield f", {text}" if place else text


def guidellm_parts(loads: Sequence[Load], version: str = "0.8", padding: str = "{[") -> Iterator[str]:
    """Yield the text of a report of guidellm, piece by piece."""
    yield f'{{"metadata": {{"guidellm_version": "{version}"}}, "benchmarks": ['
    for place, load in enumerate(loads):
        requests = requests_of(load, place)
        good = [one for one in requests if not one.failed]
        tokens = [one.tokens for one in good]
        metrics = {
            "request_totals": {"successful": len(good), "errored": len(requests) - len(good), "incomplete": 0},
            "time_to_first_token_ms": _summary([1000 * (one.first - one.started) for one in good]),
            "request_latency": _summary([one.last - one.started for one in good]),
            "inter_token_latency_ms": _summary(
                [1000 * (one.last - one.first) / (one.tokens - 1) for one in good], [count - 1 for count in tokens]
            ),
            "time_per_output_token_ms": _summary(
                [1000 * (one.last - one.started) / one.tokens for one in good], tokens
            ),
        }
        strategy = {"type_": "concurrent", "streams": load.streams}
        where = {"0.3": {"args": {"strategy": strategy}, "worker": {"backend_model": "tiny"}}}
        config = where.get(version, {"config": {"strategy": strategy, "backend": {"model": "tiny"}}})
        yield (
            ("," if place else "") + json.dumps({**config, "metrics": metrics})[:-1] + ', "requests": {"successful": ['
        )
        yield from _listed(json.dumps(_record(one, version, padding)) for one in good)
        yield '], "errored": ['
        yield from _listed(json.dumps(_record(one, version, padding)) for one in requests if one.failed)
        yield '], "incomplete": [], "total": null}}'
    yield "]}"


def llm_load_test_document(load: Load) -> dict[str, Any]:
    """Return a result of llm-load-test."""
    requests = requests_of(load)
    results = [
        {
            "user_id": place % load.streams,
            "input_tokens": 128,
            "output_text": "{[",
            "output_tokens": 0 if one.failed else one.tokens,
            "output_tokens_before_timeout": 0 if one.failed else one.tokens,
            "start_time": one.started,
            "ack_time": one.first,
            "first_token_time": one.first,
            "end_time": one.last,
            "response_time": 1000 * (one.last - one.started),
            "ttft": 1000 * (one.first - one.started),
            "error_code": 500 if one.failed else None,
            "error_text": "no" if one.failed else None,
        }
        for place, one in enumerate(requests)
    ]
    good = [one for one in requests if not one.failed]

    def summary(values: list[float]) -> dict[str, float]:
        of_all = _summary(values)["successful"]
        named = {f"percentile_{name[1:]}": number for name, number in of_all["percentiles"].items()}
        return {"mean": of_all["mean"], "median": of_all["median"], **named}

    return {
        "results": results,
        "config": {
            "load_options": {"type": "constant", "concurrency": load.streams, "duration": 60},
            "plugin_options": {"model_name": "tiny", "streaming": True},
        },
        "summary": {
            "ttft": summary([1000 * (one.first - one.started) for one in good]),
            "itl": summary([1000 * (one.last - one.first) / (one.tokens - 1) for one in good]),
            "tpot": summary([1000 * (one.last - one.started) / one.tokens for one in good]),
            "response_time": summary([1000 * (one.last - one.started) for one in good]),
            "total_requests": len(requests),
            "total_failures": len(requests) - len(good),
        },
    }


def document(**more: Any) -> dict[str, Any]:
    """Return the document beside the results."""
    return {"schema": "psap.perf/load-test/1", "lab": LAB, **more}


def write_guidellm(place: Path, loads: Sequence[Load], version: str = "0.8", padding: str = "{[", **more: Any) -> Path:
    """Write a recording of guidellm; return its results."""
    path = place / "results" / "benchmarks.json"
    path.parent.mkdir(parents=True)
    (place / "guidellm.json").write_text(json.dumps(document(**more)))
    with path.open("w") as stream:
        for part in guidellm_parts(loads, version, padding):
            stream.write(part)
    return path


def write_llm_load_test(place: Path, load: Load, **more: Any) -> Path:
    """Write a recording of llm-load-test; return its results."""
    path = place / "output" / "output.json"
    path.parent.mkdir(parents=True)
    (place / "llm_load_test.json").write_text(json.dumps(document(**more)))
    path.write_text(json.dumps(llm_load_test_document(load), indent=4))
    return path


def write_aiperf(place: Path, load: Load) -> Path:
    """Write a recording of aiperf with the measures that are read; return the file of its requests."""
    path = place / "results" / "profile_export.jsonl"
    path.parent.mkdir(parents=True)
    stated = {"concurrency": load.streams, "requests": load.requests, "requested_model": "m"}
    (place / "aiperf.json").write_text(json.dumps(document(generator="aiperf", load=stated)))
    with path.open("w") as lines:
        for one in requests_of(load):
            lines.write(json.dumps(_aiperf_record(one)) + "\n")
    return path


def _aiperf_record(one: Request) -> dict[str, Any]:
    ends = {"request_start_ns": int(one.started * 1e9), "request_end_ns": int(one.last * 1e9)}
    metadata = {**ends, "was_cancelled": False, "benchmark_phase": "profiling"}
    if one.failed:
        return {"metadata": metadata, "error": {"code": 503, "message": "Service Unavailable"}}
    step = 1000 * (one.last - one.first) / max(1, one.tokens - 1)
    measures = {
        "time_to_first_token": 1000 * (one.first - one.started),
        "inter_token_latency": step,
        "input_sequence_length": 128,
        "output_sequence_length": one.tokens,
    }
    chunks = {"inter_chunk_latency": {"value": [step] * one.tokens, "unit": "ms"}}
    return {"metadata": metadata, "metrics": {name: {"value": value} for name, value in measures.items()} | chunks}


def write_example(run: Path) -> None:
    """Write two flavors of one model under six loads each."""
    for place, (flavor, slots) in enumerate({"simple": 16, "pd-x2": 32}.items()):
        loads = [Load(streams, 60 * streams, slots, failing=50 * (streams == 64)) for streams in (1, 4, 8, 16, 32, 64)]
        stated: dict[str, Any] = {"flavor": flavor, "limits": {"ttft_s": 0.2, "itl_s": 0.02}}
        stated |= {"gpus": 2 + 2 * place, "gpu_product": "H100", "gpu_hour_prices": {"H100": 3.0}}
        write_guidellm(run / f"{place:03d}__{flavor}" / "artifacts", loads, **stated)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="directory to write the run to")
    write_example(parser.parse_args().run)
