"""The loads of the flow llm_d by generators without a dedicated command."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.llm_d_loads import llm_d_loads

SETTINGS: dict[str, Any] = {
    "llm_d_api_key": "",
    "llm_d_data": "prompt_tokens=256,output_tokens=128",
    "llm_d_data_file": "",
    "llm_d_load_generator": "aiperf",
    "llm_d_max_requests": 0,
    "llm_d_max_seconds": 30,
    "llm_d_processor": "",
    "llm_d_rate": [1.0, 8.0],
    "llm_d_rate_type": "concurrent",
    "llm_d_rates_in_one_run": False,
    "llm_d_request_type": "chat_completions",
    "llm_d_requests_per_rate": 0,
    "llm_d_trace": "",
    "llm_d_trace_format": "mooncake",
    "llm_d_load_image": "",
}


def loads(**other: Any) -> list[dict[str, Any]]:
    """Return the loads with *other* settings, without values that the settings do not name."""
    unset = ("", 0, 0.0)
    return [
        {name: value for name, value in load.items() if value not in unset}
        for load in llm_d_loads({**SETTINGS, **{f"llm_d_{name}": value for name, value in other.items()}})
    ]


def test_each_rate_is_a_load_with_the_lengths_of_the_data() -> None:
    shared = {"api": "chat", "duration": 30, "input_tokens": 256, "output_tokens": 128}
    assert loads() == [{**shared, "concurrency": 1}, {**shared, "concurrency": 8}]
    poisson = loads(rate_type="poisson", rate=[2.5], request_type="text_completions")
    assert poisson == [{**shared, "api": "completions", "rate": 2.5}]


def test_multiples_of_the_rate_are_those_of_guidellm() -> None:
    data = "prompt_tokens=128,output_tokens=64,turns=5,prefix_tokens=1000,prefix_count={2*rate}"
    (load,) = loads(data=data, rate=[32], requests_per_rate=10, max_seconds=0)
    assert load == {
        "api": "chat",
        "concurrency": 32,
        "requests": 320,
        "input_tokens": 128,
        "output_tokens": 64,
        "turns": 5,
        "prefix_tokens": 1000,
        "prefixes": 64,
    }


def test_trace_is_one_load_without_rates() -> None:
    replay = {"api": "chat", "trace_file": "s3://traces/a.jsonl", "trace_format": "mooncake"}
    assert loads(trace="s3://traces/a.jsonl") == [replay]
    assert loads(trace="pvc://data/a.jsonl", load_image="aiperf:1")[0]["trace_file"] == "pvc://data/a.jsonl"


def test_guidellm_has_its_own_command() -> None:
    assert loads(load_generator="guidellm", data="kind=huggingface,path=a/b", rate_type="sweep") == []


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"rate_type": "sweep"}, "only guidellm creates loads of the type sweep; set llm_d_load_generator to guidellm"),
        ({"rate": [0.5]}, "a number of users is whole, not 0.5"),
        ({"data": "kind=huggingface,path=a/b"}, "only guidellm reads 'kind=huggingface'"),
        ({"data": "promt_tokens=3"}, "only guidellm reads 'promt_tokens=3'; did you mean prompt_tokens"),
        ({"data": "prompt_tokens=8,prompt_tokens_max=9"}, "aiperf cannot use input_tokens_max: it has no bounds"),
        ({"api_key": "file:key"}, "aiperf cannot use api_key"),
        ({"rates_in_one_run": True}, "only guidellm loads at several rates in one run"),
        ({"load_generator": "inference-perf", "data": "prompt_tokens=8,turns=2"}, "inference-perf cannot use turns"),
        ({"load_generator": "guidellm", "trace": "a.jsonl"}, "llm_d_trace: guidellm replays no traces"),
        ({"trace": "a.json", "trace_format": "otel"}, "aiperf cannot use trace_format: "),
        ({"trace": "https://example.com/a"}, "llm_d_trace: 'https://example.com/a' is no data set or trace; write a"),
        ({"trace": "pvc://data/a"}, "llm_d_trace: only a Job reads pvc://data/a: set the image"),
        ({"trace": "s3://b/a", "load_image": "a:1"}, "llm_d_trace: a Job does not read s3://b/a: download it"),
        ({"trace": "a", "data_file": "b"}, "llm_d_trace and llm_d_data_file are both set"),
        ({"load_generator": "inference-perf"}, "inference-perf cannot use duration with concurrency"),
        (
            {"load_generator": "inference-perf", "rate_type": "poisson", "max_requests": 9},
            "inference-perf cannot use requests with a rate",
        ),
    ],
)
def test_load_that_the_generator_cannot_create_is_refused(other: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        loads(**other)
