"""Load generators: their invocations, what they refuse, their results, and their environments."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.filter.missing_generators import FilterModule
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run
from ansible_collections.psap.perf.plugins.module_utils.serving.generators import cpu, installing, table
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import (
    API_KEY,
    Folders,
    Load,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.inputs import check_location
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.loads import (
    invocation,
    load_facts,
    load_job,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.table import (
    GROUP,
    SHIPPED,
    generator_of,
    generators,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import Counts, conclusive
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command

_ROLE = Path(__file__).parents[3] / "collections/ansible_collections/psap/perf/roles/serving_run_load"
_SHARED = ("shared_load_report", "shared_load_job")
_FOLDERS = Folders("/inputs", "/results", "/data")


def load(**given: Any) -> Load:
    defaults = {
        option.short_name: option.default
        for role in (_ROLE, *(_ROLE.with_name(name) for name in _SHARED))
        for option in read_command(role, role).arguments
    }
    required = {"endpoint_url": "http://a.example.com/base", "model": "tiny", "requests": 20, "concurrency": 4}
    return convert({**defaults, **required, **given}, Load)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Return a function that installs a package with a module and an entry point of this value."""

    def install(value: str) -> None:
        about = tmp_path / "added-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Name: added\nVersion: 1\n")
        (about / "entry_points.txt").write_text(f"[{GROUP}]\nmine = {value}\n")
        (tmp_path / "added_generators.py").write_text(
            "from dataclasses import replace\n"
            f"from {table.__name__} import AIPERF\n"
            "MINE = replace(AIPERF, name='mine', program='mine', installation=None)\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        generators.cache_clear()

    yield install
    generators.cache_clear()
    sys.modules.pop("added_generators", None)


def test_generator_of_another_package_is_known(
    installed: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed("added_generators:MINE")
    with pytest.raises(UsageError, match="cannot find the program mine of mine in the PATH"):
        installing.program_of(generator_of("mine"), "")
    program = tmp_path / "mine"
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installing.program_of(generator_of("mine"), "") == str(program)
    with pytest.raises(UsageError, match="perfdrv cannot install mine; put its program mine in the PATH"):
        installing.install(generator_of("mine"), print)
    with pytest.raises(UsageError, match="unknown load generator mina; did you mean mine"):
        generator_of("mina")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("added_generators:MISSING", "cannot load the entry point mine = added_generators:MISSING of added: Attribute"),
        ("added_generators:replace", "cannot use the entry point .*: it is not a Generator"),
        ("added_generators:AIPERF", "entry point .* adds the load generator aiperf, which exists"),
    ],
)
def test_broken_entry_point_of_a_generator_is_one_error(
    value: str, problem: str, installed: Callable[[str], None]
) -> None:
    installed(value)
    with pytest.raises(PerfError, match=problem):
        generators()


def test_description_names_the_generators() -> None:
    argument = next(one for one in read_command(_ROLE, _ROLE).arguments if one.short_name == "generator")
    assert all(f"V({one.name})" in " ".join(argument.description) for one in SHIPPED)


@pytest.mark.parametrize("name", sorted({name for one in SHIPPED for name in one.cannot}))
def test_unsupported_argument_is_refused_with_its_reason(name: str) -> None:
    values: dict[str, Any] = {"streaming": False, "rate": 2.0, "data_file": "a", "trace_file": "a", "api_key": "env:A"}
    values["trace_format"] = "otel"
    value = values.get(name, 7)
    for generator in SHIPPED:
        if name in generator.cannot:
            more = {"concurrency": 0} if name == "rate" else {}
            more |= {"requests": 0, "duration": 5} if "requests" in generator.cannot and name != "requests" else {}
            with pytest.raises(UsageError, match=f"^{generator.name} cannot use {name}: .*[a-z]$"):
                invocation(load(generator=generator.name, **{name: value}, **more), _FOLDERS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"concurrency": 0}, "either concurrency or rate"),
        ({"rate": 2.0}, "either concurrency or rate"),
        ({"requests": 0}, "duration or requests must be above 0"),
        ({"turns": 0}, "turns must be at least 1, not 0"),
        ({"duration": -1}, "duration cannot be negative, but is -1"),
        ({"trace_file": "a", "data_file": "b"}, "data_file and trace_file are both set"),
    ],
)
def test_contradicting_arguments_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        invocation(load(**given), _FOLDERS)


def test_aiperf_gets_concurrency_lengths_and_seed() -> None:
    words = " ".join(invocation(load(duration=5, output_tokens_stdev=3, prefix_tokens=9), _FOLDERS).arguments)
    for part in (
        "--model tiny --url http://a.example.com/base --endpoint-type completions",
        "--concurrency 4 --benchmark-duration 5",
        "--request-count 20",
        "--output-tokens-mean 128 --output-tokens-stddev 3",
        "--prefix-prompt-length 9 --num-prefix-prompts 1",
        "--random-seed 42",
        "--tokenizer /inputs",
    ):
        assert part in words


def test_aiperf_replays_a_trace_at_its_times() -> None:
    words = invocation(load(trace_file="a.jsonl", concurrency=0, requests=0), _FOLDERS).arguments
    assert words[-5:] == (
        "--input-file",
        "/data/a.jsonl",
        "--custom-dataset-type",
        "mooncake_trace",
        "--fixed-schedule",
    )


def test_inference_perf_gets_a_configuration() -> None:
    invoked = invocation(load(generator="inference-perf", input_tokens=32, input_tokens_stdev=4), _FOLDERS)
    config = json.loads(invoked.files["inference_perf.json"])
    assert config["load"]["stages"] == [{"concurrency_level": 4, "num_requests": 20}]
    assert config["data"]["input_distribution"] == {"mean": 32, "std_dev": 4, "min": 16, "max": 48}
    assert invoked.arguments == ("--config_file", "/inputs/inference_perf.json")


def test_inference_perf_needs_requests_with_concurrency() -> None:
    with pytest.raises(UsageError, match="cannot use duration with concurrency"):
        invocation(load(generator="inference-perf", requests=0, duration=5), _FOLDERS)


@pytest.mark.parametrize("form", ["otel", "weka"])
def test_inference_perf_replays_conversations(form: str) -> None:
    trace = {"trace_file": "days/*.json", "trace_format": form, "api": "chat", "concurrency": 3, "requests": 0}
    invoked = invocation(load(generator="inference-perf", **trace), _FOLDERS)
    config = json.loads(invoked.files["inference_perf.json"])
    assert config["load"]["stages"] == [{"concurrent_sessions": 3}]
    assert config["data"][f"{form}_trace_replay"]["trace_files"] == ["/data/days/*.json"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "cannot use trace_format mooncake: .*; use aiperf"),
        ({"trace_format": "otel"}, "cannot use api completions with a trace"),
        ({"trace_format": "weka", "api": "chat", "requests": 7}, "cannot use requests with a trace"),
    ],
)
def test_inference_perf_refuses_other_replays(given: dict[str, Any], message: str) -> None:
    trace = {"generator": "inference-perf", "trace_file": "a.json", "concurrency": 0, "requests": 0}
    with pytest.raises(UsageError, match=message):
        invocation(load(**{**trace, **given}), _FOLDERS)


def test_guidellm_gets_the_key_by_its_environment() -> None:
    invoked = invocation(load(generator="guidellm", api_key="env:KEY", rate=2.5, concurrency=0), _FOLDERS)
    assert invoked.environment == {"GUIDELLM__SPEC__BACKEND__API_KEY": API_KEY}
    assert "kind=poisson,rate=2.5" in invoked.arguments
    assert not any("KEY" in word for word in invoked.arguments)


def test_llm_load_test_gets_a_configuration() -> None:
    given = {"generator": "llm-load-test", "requests": 0, "duration": 5, "data_file": "set.jsonl"}
    config = json.loads(invocation(load(**given), _FOLDERS).files["llm_load_test_config.json"])
    assert config["plugin_options"]["host"] == "http://a.example.com"
    assert config["plugin_options"]["endpoint"] == "/base/v1/completions"
    assert config["dataset"]["file"] == "/data/set.jsonl"


def test_job_reads_data_from_a_claim_only() -> None:
    with pytest.raises(UsageError, match="a Job reads data_file and trace_file from a claim"):
        load_job(load(data_file="a.jsonl"), "", "5m")
    job = load_job(load(data_file="a.jsonl"), "data", "5m")
    assert "/data/a.jsonl" in job.words
    assert job.results["/results/profile_export.jsonl"] == "results/profile_export.jsonl"
    # no network is needed for the tokenizer
    assert "tokenizer.json" in job.files


def test_job_reads_the_claim_of_a_location() -> None:
    job = load_job(load(trace_file="pvc://traces/day/a.jsonl", concurrency=0, requests=0), "", "5m")
    assert (job.claim, "/data/day/a.jsonl" in job.words) == ("traces", True)
    with pytest.raises(UsageError, match="from one claim, not data, traces"):
        load_job(load(data_file="pvc://traces/a.jsonl"), "data", "5m")


@pytest.mark.parametrize("text", ["ftp://a/b", "s3://bucket", "pvc://claim/../a", "s3:///a"])
def test_other_location_of_data_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no data set or trace; write a path, s3://BUCKET/KEY or pvc://CLAIM/PATH"):
        check_location(text, in_job=False)


def test_facts_state_the_generator_and_its_load() -> None:
    assert load_facts(load()) == {
        "generator": "aiperf",
        "load": {"concurrency": 4, "requests": 20, "requested_model": "tiny"},
    }


def test_load_without_an_answer_is_an_error() -> None:
    with pytest.raises(DataQualityError, match="no request ended"):
        conclusive(Counts(0, 0, ""))
    with pytest.raises(DataQualityError, match="all 3 requests failed; the first: 503"):
        conclusive(Counts(3, 3, "503"))
    assert conclusive(Counts(3, 2, "503")).failed == 2


def test_aiperf_requests_are_counted_with_the_first_reason(tmp_path: Path) -> None:
    lines = [{"metrics": {}}, {"error": {"message": "503"}}, {"error": {"message": "504"}}]
    (tmp_path / "profile_export.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert generator_of("aiperf").count(tmp_path) == Counts(3, 2, "503")
    (tmp_path / "profile_export.jsonl").write_text("{")
    with pytest.raises(DataQualityError, match="cannot be read at line 1"):
        generator_of("aiperf").count(tmp_path)


def test_inference_perf_requests_are_counted(tmp_path: Path) -> None:
    found = {"successes": {"count": 3}, "failures": {"count": 1, "by_label": {"503 - Unavailable": {"count": 1}}}}
    (tmp_path / "summary_lifecycle_metrics.json").write_text(json.dumps(found))
    assert generator_of("inference-perf").count(tmp_path) == Counts(4, 1, "503 - Unavailable")


def test_vllm_bench_gets_requests_lengths_and_the_key() -> None:
    invoked = invocation(load(generator="vllm-bench", api="chat", rate=2.0, concurrency=0, api_key="env:A"), _FOLDERS)
    words = " ".join(invoked.arguments)
    for part in (
        "bench serve --backend openai-chat --endpoint /v1/chat/completions --base-url http://a.example.com/base",
        "--model tiny --tokenizer /inputs",
        "--seed 42 --num-prompts 20 --ignore-eos --request-rate 2",
        "--dataset-name random --random-input-len 256 --random-output-len 128",
    ):
        assert part in words
    assert invoked.environment == {"OPENAI_API_KEY": API_KEY}


def test_vllm_bench_shares_prefixes() -> None:
    words = " ".join(invocation(load(generator="vllm-bench", prefix_tokens=9, prefixes=3), _FOLDERS).arguments)
    assert "--prefix-repetition-num-prefixes 3 --prefix-repetition-prefix-len 9" in words


def test_vllm_bench_replays_a_whole_trace_at_its_times() -> None:
    given = load(generator="vllm-bench", trace_file="a.jsonl", concurrency=0, requests=0)
    words = " ".join(invocation(given, _FOLDERS).arguments)
    assert "--dataset-name timed_trace --dataset-path /data/a.jsonl --timed-trace-sec-multiplier 0.001" in words
    assert words.endswith("--no-oversample")


def test_vllm_bench_requests_are_counted_with_the_last_line_of_the_first_reason(tmp_path: Path) -> None:
    errors = ["", "Traceback\n  File\nTimeoutError: late\n", "Service Unavailable"]
    (tmp_path / "benchmark.json").write_text(json.dumps({"errors": errors}))
    assert generator_of("vllm-bench").count(tmp_path) == Counts(3, 2, "TimeoutError: late")


@pytest.mark.parametrize("name", sorted(one.name for one in SHIPPED))
def test_missing_results_are_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataQualityError, match=f"{name} left no "):
        generator_of(name).count(tmp_path)


def test_missing_generator_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    message = "aiperf 0.13.0 is not installed; run: perfdrv generators install aiperf, which needs 0.9 GB"
    with pytest.raises(UsageError, match=message):
        installing.program_of(generator_of("aiperf"), "")
    assert installing.program_of(generator_of("aiperf"), "/opt/aiperf") == "/opt/aiperf"


def test_busy_child_process_is_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "_INTERVAL_S", 0.2)
    watch = cpu.CpuWatch()
    busy = f"{sys.executable} -c 'import time; end = time.time() + 1.5\nwhile time.time() < end: pass'; true"
    run(Program(("sh", "-c", busy), tmp_path, {}), tmp_path / "log", 60, lambda: None, lambda _text: None, watch.sample)
    found = watch.document()
    assert len(found["times_s"]) == len(found["cores"]) >= 2
    # other work may have most of the CPUs
    assert 0.05 < max(found["busiest_process_cores"]) < 1.5
    assert max(found["cores"]) >= max(found["busiest_process_cores"])


def test_missing_generators_are_listed_without_those_that_have_no_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    missing = FilterModule().filters()["missing_generators"]
    assert [text.split(" is not")[0] for text in missing(["aiperf", "llm-load-test"])] == ["aiperf 0.13.0"]
    folder = installing.environment(generator_of("aiperf"))
    folder.mkdir(parents=True)
    (folder / ".complete").touch()
    assert missing(["aiperf"]) == []


def test_failed_installation_leaves_no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    python = tmp_path / "python3.11"
    pip = 'printf "#!/bin/sh\\necho no such version >&2; exit 1" > "$3/bin/python"; chmod +x "$3/bin/python"'
    python.write_text(f'#!/bin/sh\n[ "$1" = -m ] || exit 0\nmkdir -p "$3/bin"\n{pip}\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    lines: list[str] = []
    with pytest.raises(PerfError, match="failed: no such version"):
        installing.install(generator_of("aiperf"), lines.append)
    assert lines == [f"installing aiperf 0.13.0 for {python}: 0.9 GB and about 4 min"]
    assert not installing.environment(generator_of("aiperf")).exists()
    assert not installing.is_installed(generator_of("aiperf"))


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_python_of_the_driver_is_used_if_the_generator_supports_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "driver-python"))
    pip = 'echo "Collecting aiperf==0.13.0"; echo "Installing collected packages: a, b"'
    program(
        tmp_path / "driver-python",
        f"mkdir -p $3/bin; printf '#!/bin/sh\n{pip}' > $3/bin/python; chmod +x $3/bin/python",
    )
    lines: list[str] = []
    installing.install(generator_of("aiperf"), lines.append)
    assert lines[0].startswith(f"installing aiperf 0.13.0 for {tmp_path}/driver-python")
    assert lines[1].startswith("Installing collected packages …")
    assert installing.is_installed(generator_of("aiperf"))


def test_python_that_does_not_run_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "version_info", (3, 11, 0))
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path / "python3.12", "exit 127")
    with pytest.raises(
        UsageError, match=r"needs Python 3\.12 or 3\.13; install one, so that python3\.13 is in the PATH"
    ):
        installing.install(generator_of("inference-perf"), lambda _text: None)
