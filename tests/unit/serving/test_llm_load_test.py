"""The configuration of llm-load-test, and the reported part of its results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving import llm_load_test
from ansible_collections.psap.perf.plugins.module_utils.serving.llm_load_test import (
    LlmLoadTest,
    configuration,
    job_invocation,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import conclusive
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command

_ROLE = Path(__file__).parents[3] / "collections/ansible_collections/psap/perf/roles/llm_load_test_run"


def arguments(**given: Any) -> LlmLoadTest:
    defaults = {option.short_name: option.default for option in read_command(_ROLE, _ROLE).arguments}
    return convert({**defaults, "host": "a.example.com", "port": 8443, "duration": 60, **given}, LlmLoadTest)


def count_requests(path: Path) -> tuple[int, int]:
    counts = conclusive(llm_load_test.count_requests(path))
    return counts.requests, counts.failed


def test_openai_plugin_gets_a_url() -> None:
    config = configuration(arguments(plugin="openai_plugin", use_tls=True, concurrency=4), Path("/results"))
    assert config["load_options"] == {"type": "constant", "concurrency": 4, "duration": 60}
    assert config["output"] == {"format": "json", "dir": "/results", "file": "output.json"}
    options = config["plugin_options"]
    assert options["host"] == "https://a.example.com:8443"
    assert (options["endpoint"], options["model_name"]) == ("/v1/completions", "/mnt/models/")


def test_other_plugins_get_host_and_port() -> None:
    options = configuration(arguments(), Path())["plugin_options"]
    assert (options["host"], options["port"], options["interface"]) == ("a.example.com", 8443, "grpc")
    assert "endpoint" not in options


@pytest.mark.parametrize("name", ["concurrency", "duration", "max_queries"])
def test_load_without_a_length_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} must be at least 1, not 0"):
        configuration(arguments(**{name: 0}), Path())


def test_job_has_the_configuration_and_ends_by_itself() -> None:
    found = job_invocation(arguments(duration=60), "/results", "5m")
    written = json.loads(found.configuration)
    assert written["output"]["dir"] == "/results"
    assert written["load_options"]["duration"] == 60
    assert found.timeout_s > 60
    assert found.deadline_s >= found.timeout_s + 300


def results(path: Path, *found: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"results": found}))
    return path


GOOD: dict[str, Any] = {"error_code": None, "error_text": None}
BAD: dict[str, Any] = {"error_code": 503, "error_text": "no healthy upstream"}


def test_failed_requests_are_counted(tmp_path: Path) -> None:
    assert count_requests(results(tmp_path / "output.json", GOOD, BAD, GOOD)) == (3, 1)


def test_only_failures_are_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(DataQualityError, match="all 2 requests failed; the first: 503 no healthy upstream"):
        count_requests(results(tmp_path / "output.json", BAD, BAD))


def test_invalid_results_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "output.json"
    with pytest.raises(DataQualityError, match=r"left no output\.json"):
        count_requests(path)
    with pytest.raises(DataQualityError, match="no request ended"):
        count_requests(results(path))
    for text in ("{", "[]", '{"results": [1]}', "{}"):
        path.write_text(text)
        with pytest.raises(DataQualityError, match="cannot be read"):
            count_requests(path)
