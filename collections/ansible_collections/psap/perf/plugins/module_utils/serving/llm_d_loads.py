"""The loads of the flow llm_d by a generator of the command serving_run_load, from settings in guidellm's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import (
    CHAT,
    COMPLETIONS,
    refuse_unsupported_arguments,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.inputs import check_location
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.table import generator_of
from ansible_collections.psap.perf.plugins.module_utils.serving.guidellm import data_at, multiple

GUIDELLM = "guidellm"
"""The generator that has its own command, with all kinds of its loads and data."""
_APIS = {"chat_completions": CHAT, "text_completions": COMPLETIONS}
# arguments of serving_run_load, by the names of guidellm's synthetic texts
_DATA = {
    "prompt_tokens": "input_tokens",
    "prompt_tokens_stdev": "input_tokens_stdev",
    "prompt_tokens_min": "input_tokens_min",
    "prompt_tokens_max": "input_tokens_max",
    "output_tokens": "output_tokens",
    "output_tokens_stdev": "output_tokens_stdev",
    "output_tokens_min": "output_tokens_min",
    "output_tokens_max": "output_tokens_max",
    "turns": "turns",
    "prefix_tokens": "prefix_tokens",
    "prefix_count": "prefixes",
}
_ADVICE = "set llm_d_load_generator to guidellm"


def llm_d_loads(settings: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return the arguments of serving_run_load for each rate of a cell; none if guidellm's own command loads the model.

    Raises:
        UsageError: If the generator cannot create the load.
    """
    name, trace = settings["llm_d_load_generator"], settings["llm_d_trace"]
    if trace:
        _check_trace(settings)
    if name == GUIDELLM:
        return ()
    loads = tuple([_replay(settings)] if trace else _loads(settings))
    for load in loads:
        refuse_unsupported_arguments(load, generator_of(name))
    return loads


def _check_trace(settings: Mapping[str, Any]) -> None:
    if settings["llm_d_load_generator"] == GUIDELLM:
        raise UsageError("llm_d_trace: guidellm replays no traces; set llm_d_load_generator to aiperf")
    if settings["llm_d_data_file"]:
        raise UsageError("llm_d_trace and llm_d_data_file are both set; remove one of them")
    try:
        check_location(settings["llm_d_trace"], in_job=bool(settings["llm_d_load_image"]))
    except UsageError as error:
        raise UsageError(f"llm_d_trace: {error}") from error


def _replay(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "api": _APIS[settings["llm_d_request_type"]],
        "trace_file": settings["llm_d_trace"],
        "trace_format": settings["llm_d_trace_format"],
        "concurrency": 0,
        "rate": 0.0,
        "duration": 0,
        "requests": 0,
        "data_file": "",
        "tokenizer": settings["llm_d_processor"],
        "api_key": settings["llm_d_api_key"],
    }


def _loads(settings: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    kind, rates = settings["llm_d_rate_type"], settings["llm_d_rate"]
    shared = {
        "api": _APIS[settings["llm_d_request_type"]],
        "duration": settings["llm_d_max_seconds"],
        "tokenizer": settings["llm_d_processor"],
        "api_key": settings["llm_d_api_key"],
        "data_file": settings["llm_d_data_file"],
    }
    if settings["llm_d_rates_in_one_run"]:
        raise UsageError(f"llm_d_rates_in_one_run: only guidellm loads at several rates in one run; {_ADVICE}")
    if kind not in ("concurrent", "poisson", "synchronous"):
        raise UsageError(f"llm_d_rate_type: only guidellm creates loads of the type {kind}; {_ADVICE}")
    for rate in [1.0] if kind == "synchronous" else rates:
        factor, most = settings["llm_d_requests_per_rate"], settings["llm_d_max_requests"]
        yield {
            **shared,
            **_lengths("" if shared["data_file"] else data_at(settings["llm_d_data"], [rate])),
            **_load_at(kind, rate),
            "requests": multiple(factor, [rate], "llm_d_requests_per_rate") if factor else most,
        }


def _load_at(kind: str, rate: float) -> Mapping[str, Any]:
    if kind == "poisson":
        return {"concurrency": 0, "rate": float(rate)}
    if rate != int(rate):
        raise UsageError(f"llm_d_rate: a number of users is whole, not {rate:g}")
    return {"concurrency": int(rate), "rate": 0.0}


def _lengths(data: str) -> Mapping[str, int]:
    """Return the arguments for synthetic texts in guidellm's words."""
    found: dict[str, int] = {}
    for pair in data.split(",") if data else ():
        name, _equals, value = pair.strip().partition("=")
        if name not in _DATA or not value.strip().isdecimal():
            raise UsageError(
                f"llm_d_data: only guidellm reads {pair.strip()!r}{did_you_mean(name, _DATA)}; use lengths such as "
                f"prompt_tokens=512,output_tokens=128, or {_ADVICE}"
            )
        found[_DATA[name]] = int(value)
    return found
