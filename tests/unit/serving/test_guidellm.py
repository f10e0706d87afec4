"""The command line of guidellm by version, and the reported part of its results."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, DataQualityError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import Executed
from ansible_collections.psap.perf.plugins.module_utils.secrets.hiding import Hiding
from ansible_collections.psap.perf.plugins.module_utils.serving import guidellm
from ansible_collections.psap.perf.plugins.module_utils.serving.guidellm import (
    IN_POD,
    Guidellm,
    invocation,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.pod_results import fetch
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import conclusive
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command

_ROLE = Path(__file__).parents[3] / "collections/ansible_collections/psap/perf/roles/llm_d_run_guidellm_benchmark"
REAL = Path(__file__).parents[2] / "data/foreign/load_tests/guidellm-0.8.1.json"


def arguments(**given: Any) -> Guidellm:
    defaults = {option.short_name: option.default for option in read_command(_ROLE, _ROLE).arguments}
    own = {"endpoint_url": "http://a.example.com", "namespace": "a", "version": "v0.6.0"}
    return convert({**defaults, **own, **given}, Guidellm)


def count_requests(path: Path) -> tuple[int, int]:
    counts = conclusive(guidellm.count_requests(path))
    return counts.requests, counts.failed


def command_line(rates: list[float], **given: Any) -> str:
    return " ".join(invocation(arguments(**given), rates, "/r/b.json", "/data").arguments)


def test_options_until_0_6() -> None:
    assert command_line([1, 8.5], max_requests=10, model="m", guidellm_args=["--rampup", "5"]) == (
        "benchmark run --target http://a.example.com --rate-type concurrent --rate 1,8.5"
        " --data prompt_tokens=256,output_tokens=128 --max-seconds 120 --max-requests 10"
        " --request-type chat_completions --model m --output-path /r/b.json --disable-console-interactive --rampup 5"
    )
    assert " --max-requests 320 " in command_line([32], requests_per_rate=10)
    assert " --data /data/p.jsonl " in command_line([1], data_file="/home/u/p.jsonl")


@pytest.mark.parametrize("version", ["v0.6.0", "v0.8.0"])
def test_multiples_of_the_rate_in_data(version: str) -> None:
    data = "turns=5,prefix_count={2*rate},prefix_tokens={rate}"
    assert "turns=5,prefix_count=64,prefix_tokens=32 " in command_line([32], version=version, data=data)


@pytest.mark.parametrize("version", ["v0.7.0", "0.8.1", "v1.0", "latest"])
def test_options_since_0_7(version: str) -> None:
    assert command_line([1, 8], version=version, max_requests=10, processor="/t") == (
        "run --backend kind=openai_http,target=http://a.example.com,request_format=/v1/chat/completions"
        " --profile kind=concurrent,streams=1 --override profile.streams 1,8"
        " --constraint kind=max_duration,seconds=120 --constraint kind=max_requests,count=10"
        " --tokenizer kind=hf_auto,model=/t --data kind=synthetic_text,prompt_tokens=256,output_tokens=128"
        " --output kind=json,path=/r/b.json --disable-console-interactive"
    )


def test_kinds_of_load_and_data_since_0_7() -> None:
    new = {"version": "v0.8.1", "request_type": "text_completions"}
    assert "request_format=/v1/completions --profile kind=sweep,sweep_size=5 " in command_line(
        [5], rate_type="sweep", **new
    )
    assert " --profile kind=throughput --constraint" in command_line([], rate_type="throughput", **new)
    assert " --profile kind=poisson,rate=0.5 " in command_line([0.5], rate_type="poisson", **new)
    assert " --data kind=json_file,path=/data/p.jsonl " in command_line([1], data_file="p.jsonl", **new)
    assert " --data kind=hf,source=a/b " in command_line([1], data="kind=hf,source=a/b", **new)


@pytest.mark.parametrize(
    ("rates", "given", "message"),
    [
        ([1.0], {"rate_type": "throughput"}, "throughput has no rate"),
        ([], {}, "concurrent needs one"),
        ([1.0, 0.0], {}, "above 0, not 0"),
        ([1.0, 2.0], {"rate_type": "sweep"}, "a single rate"),
        ([1.0], {"max_requests": -1}, "max_requests must be 0"),
        ([1.0, 2.0], {"requests_per_rate": 10}, "requests_per_rate: .* has 2; remove rates_in_one_run"),
        ([1.0, 2.0], {"data": "prefix_count={2*rate}"}, "data: .* has 2; remove rates_in_one_run"),
        ([1.0], {"max_seconds": 0}, "does not end"),
    ],
)
def test_invalid_load_is_refused(rates: list[float], given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        invocation(arguments(**given), rates, "b.json", "/data")


def test_key_is_in_the_environment_and_the_job_has_a_deadline() -> None:
    old = invocation(arguments(api_key="file:a", timeout="10m", start_timeout="30"), [1], "b.json", "/data")
    assert (old.key_variable, json.loads(old.key_value)) == ("GUIDELLM_BACKEND_KWARGS", {"api_key": "$(API_KEY)"})
    assert old.deadline_s == 600 + 30 + 600
    new = invocation(arguments(api_key="file:a", version="0.8.1"), [1], "b.json", "/data")
    assert (new.key_variable, new.key_value) == ("GUIDELLM__SPEC__BACKEND__API_KEY", "$(API_KEY)")


def results(path: Path, *totals: dict[str, Any], error: str | None = None) -> Path:
    requests = {"errored": [{"request_args": 'of "request_totals": {"errored": 9}', "error": error}]}
    benchmarks = [{"requests": requests, "metrics": {"request_totals": one}} for one in totals]
    path.write_text(json.dumps({"benchmarks": benchmarks}, indent=1))
    return path


def test_requests_are_counted_over_the_stages(tmp_path: Path) -> None:
    good, bad = {"successful": 16, "errored": 1, "incomplete": 3}, {"successful": 0, "errored": 4}
    assert count_requests(results(tmp_path / "b.json", good, bad)) == (21, 5)
    with pytest.raises(DataQualityError, match='all 4 requests failed; the first: 503 of "a"'):
        count_requests(results(tmp_path / "b.json", bad, error='503 of "a"'))
    with pytest.raises(DataQualityError, match="no request ended"):
        count_requests(results(tmp_path / "b.json", {"successful": 0, "errored": 0}))


def test_real_result_is_counted_by_its_records() -> None:
    stages = [one["requests"] for one in json.loads(REAL.read_text())["benchmarks"]]
    failed = sum(len(one["errored"]) for one in stages)
    assert count_requests(REAL) == (sum(len(one["successful"]) for one in stages) + failed, failed)


def test_invalid_results_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    with pytest.raises(DataQualityError, match=r"left no b\.json"):
        count_requests(path)
    for text, message in (("", "cannot be read"), ('{"benchmarks": [', "cut off"), ("{}", "not a result of guidellm")):
        path.write_text(text)
        with pytest.raises(DataQualityError, match=message):
            count_requests(path)


def test_results_are_fetched_from_the_jobs_folder() -> None:
    def run(argv: list[str], output: BinaryIO) -> Executed:
        output.write(b"{}")
        return Executed(0, "") if argv == ["cat", "/results/benchmarks.json"] else Executed(1, "no such file")

    output = io.BytesIO()
    fetch(run, "a-0", IN_POD, output)
    assert output.getvalue() == b"{}"
    variables = (_ROLE / "vars/main.yml").read_text(encoding="utf-8")
    assert 'output="/results/benchmarks.json"' in variables


def test_pod_without_results_is_reported() -> None:
    with pytest.raises(ClusterError, match="pod a-0 has no results: no such file"):
        fetch(lambda _argv, _output: Executed(1, "no such file"), "a-0", IN_POD, io.BytesIO())


@pytest.mark.parametrize("size", [1, 3, 64])
def test_secret_split_across_chunks_is_hidden(size: int) -> None:
    target = io.BytesIO()
    stream = Hiding(target, ["a-key-of-mine", "abc"])
    text = b'{"api_key": "a-key-of-mine", "more": "a-key-of-min abc"}a-key-of-mine'
    for start in range(0, len(text), size):
        stream.write(text[start : start + size])
    stream.flush()
    assert target.getvalue() == b'{"api_key": "(secret)", "more": "a-key-of-min abc"}(secret)'
