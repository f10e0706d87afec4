"""The program guidellm: its command line, by its version, and the requests in its results."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.load_test import ServedArguments, users_in_words
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import Counts, reading_results

OUTPUT = "benchmarks.json"
IN_POD = f"/results/{OUTPUT}"
"""The path of the results in the pod of the Job's template."""
API_KEY = "$(API_KEY)"
"""Kubernetes' reference to the key in an environment variable's value."""
WITHOUT_RATES = ("synchronous", "throughput")
# {rate} and {2*rate} in a data set
_OF_RATE = re.compile(r"\{(?:(\d+)\*)?rate\}")
_VERSION = re.compile(r"v?(\d+)\.(\d+)")
# since this version options are written kind=..., with other names
_WRITTEN_BY_KIND = (0, 7)
# in addition to the time of the Job's parts: to fetch the results
_BESIDE_S = 600.0
_KINDS_OF_FILES = {".csv": "csv_file", ".json": "json_file", ".jsonl": "json_file", ".parquet": "parquet_file"}
# a text of a record that looks like a key has its quotes escaped
_TOTALS = re.compile(rb'(?<!\\)"request_totals"\s*:\s*(\{[^{}]*\})')
_COUNT = re.compile(rb'"(successful|errored)"\s*:\s*(\d+)')
_ERROR = re.compile(rb'(?<!\\)"error"\s*:\s*"((?:[^"\\]|\\.){1,300})')


@dataclass(frozen=True, slots=True)
class Invocation:
    """The program's arguments, the variable for its key with the key's place in the value, and the maximum lifetime
    of its Job in seconds."""

    arguments: tuple[str, ...]
    key_variable: str
    key_value: str
    deadline_s: int


@dataclass(frozen=True, slots=True)
class Guidellm(ServedArguments):
    """The arguments of the command llm_d_run_guidellm_benchmark that describe the load."""

    endpoint_url: str
    namespace: str
    image: str
    version: str
    program: str
    rate_type: str
    max_seconds: int
    max_requests: int
    requests_per_rate: int
    request_type: str
    data: str
    data_file: str
    model: str
    processor: str
    guidellm_args: tuple[str, ...]
    api_key: str
    hf_token: str
    start_timeout: Seconds
    timeout: Seconds
    served_version: str


def deadline_s(*parts: object) -> int:
    """Return the seconds after which Kubernetes ends a killed command's Job, from the timeouts of its *parts*."""
    return int(sum(map(seconds, parts)) + _BESIDE_S)


def invocation(load: Guidellm, rates: Sequence[float], output: str, data_folder: str) -> Invocation:
    """Return the invocation of the program.

    Args:
        load: The arguments of the command.
        rates: The rates of one run of the program; empty if its kind of load has none.
        output: The file for its results.
        data_folder: The folder with the file of the data set.

    Raises:
        UsageError: If the arguments contradict each other, or one is out of its range.
    """
    if load.requests_per_rate:
        load = replace(load, max_requests=multiple(load.requests_per_rate, rates, "requests_per_rate"))
    load = replace(load, data=data_at(load.data, rates))
    _check(load, rates)
    found = _VERSION.match(load.version or load.image.rpartition(":")[2])
    # a tag such as latest means the newest version
    if found and (int(found[1]), int(found[2])) < _WRITTEN_BY_KIND:
        options = ("benchmark", "run", *_flat(load, rates, output, data_folder))
        variable, value = "GUIDELLM_BACKEND_KWARGS", f'{{"api_key": "{API_KEY}"}}'
    else:
        options = ("run", *_by_kind(load, rates, output, data_folder))
        variable, value = "GUIDELLM__SPEC__BACKEND__API_KEY", API_KEY
    more = ("--disable-console-interactive", *map(str, load.guidellm_args))
    return Invocation((*options, *more), variable, value, deadline_s(load.start_timeout, load.timeout))


def rates_in_words(rate_type: str, rates: Sequence[float]) -> str:
    """Return the load of a run of the program, as the analysis names it; empty if it has several loads."""
    if rate_type == "sweep" or len(rates) > 1:
        return ""
    if not rates:
        return rate_type
    return users_in_words(rates[0]) if rate_type == "concurrent" else f"{rates[0]:.3g} requests/s"


def data_at(data: str, rates: Sequence[float]) -> str:
    """Return a data set with the multiples of the rate that it names, such as ``{2*rate}``.

    Raises:
        UsageError: If it names one, and the run of the program has several rates.
    """
    return _OF_RATE.sub(lambda found: str(multiple(found[1] or 1, rates, "data")), data)


def multiple(factor: int | str, rates: Sequence[float], name: str) -> int:
    """Return a multiple of the rate of a run of the program; *name* is the argument's name.

    Raises:
        UsageError: If the run has several rates.
    """
    if len(rates) != 1:
        raise UsageError(
            f"{name}: a multiple of the rate needs a run of guidellm with one rate, but this one has {len(rates)}; "
            "remove rates_in_one_run"
        )
    return round(int(factor) * rates[0])


def _check(load: Guidellm, rates: Sequence[float]) -> None:
    kind = load.rate_type
    if rates and kind in WITHOUT_RATES:
        raise UsageError(f"rate: a load of the type {kind} has no rate")
    if not rates and kind not in (*WITHOUT_RATES, "sweep"):
        raise UsageError(f"rate: a load of the type {kind} needs one or several rates")
    if any(rate <= 0 for rate in rates):
        raise UsageError(f"rate: each must be above 0, not {min(rates):g}")
    if kind == "sweep" and len(rates) > 1:
        raise UsageError("rate: a sweep needs a single rate, the number of its steps")
    for name in ("max_seconds", "max_requests"):
        if getattr(load, name) < 0:
            raise UsageError(f"{name} must be 0 (no limit) or above, not {getattr(load, name)}")
    if not load.max_seconds and not load.max_requests:
        raise UsageError("max_seconds or max_requests must be above 0; otherwise the load does not end")


def _flat(load: Guidellm, rates: Sequence[float], output: str, folder: str) -> Iterator[str]:
    """Yield the options of versions until 0.6."""
    yield from ("--target", load.endpoint_url, "--rate-type", load.rate_type)
    if rates:
        yield from ("--rate", _joined(rates))
    data = f"{folder}/{Path(load.data_file).name}" if load.data_file else load.data
    given = {
        "--data": data,
        "--max-seconds": load.max_seconds,
        "--max-requests": load.max_requests,
        "--request-type": load.request_type,
        "--model": load.model,
        "--processor": load.processor,
    }
    for option, value in given.items():
        if value:
            yield from (option, str(value))
    yield from ("--output-path", output)


def _by_kind(load: Guidellm, rates: Sequence[float], output: str, folder: str) -> Iterator[str]:
    """Yield the options of versions since 0.7."""
    path = {"text_completions": "/v1/completions", "chat_completions": "/v1/chat/completions"}
    backend = {
        "kind": "openai_http",
        "target": load.endpoint_url,
        "model": load.model,
        "request_format": path.get(load.request_type, load.request_type),
    }
    yield from ("--backend", pairs(backend))
    kind = load.rate_type
    name = {"concurrent": "streams", "sweep": "sweep_size"}.get(kind, "rate")
    yield from ("--profile", pairs({"kind": kind, name: f"{rates[0]:g}" if rates else ""}))
    if len(rates) > 1:
        yield from ("--override", f"profile.{name}", _joined(rates))
    for constraint, key, limit in (
        ("max_duration", "seconds", "max_seconds"),
        ("max_requests", "count", "max_requests"),
    ):
        if getattr(load, limit):
            yield from ("--constraint", pairs({"kind": constraint, key: getattr(load, limit)}))
    if load.processor:
        yield from ("--tokenizer", pairs({"kind": "hf_auto", "model": load.processor}))
    if load.data_file:
        file = Path(load.data_file)
        data = pairs({"kind": _KINDS_OF_FILES.get(file.suffix, "text_file"), "path": f"{folder}/{file.name}"})
    else:
        data = load.data if "kind=" in load.data else f"kind=synthetic_text,{load.data}"
    yield from ("--data", data, "--output", pairs({"kind": "json", "path": output}))


def pairs(values: Mapping[str, Any]) -> str:
    """Return an option's value, without the values that are not set."""
    return ",".join(f"{key}={value}" for key, value in values.items() if value)


def _joined(rates: Iterable[float]) -> str:
    return ",".join(f"{rate:g}" for rate in rates)


def count_requests(path: Path) -> Counts:
    """Return the number of requests in the results, how many of them failed, and the reason of the first.

    Raises:
        DataQualityError: If there are no results.
    """
    with (
        reading_results("guidellm", path.name),
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as text,
    ):
        if not text[-64:].rstrip().endswith(b"}"):
            raise DataQualityError(f"{path.name} of guidellm is cut off")
        totals = [dict(_COUNT.findall(found[1])) for found in _TOTALS.finditer(text)]
        error = _ERROR.search(text)
        why = error[1].decode("utf-8", "replace").replace('\\"', '"') if error else "the results have no reason"
    if not totals:
        raise DataQualityError(f"{path.name} is not a result of guidellm: it has no request_totals")
    successful, failed = (sum(int(one.get(key, 0)) for one in totals) for key in (b"successful", b"errored"))
    return Counts(successful + failed, failed, why)
