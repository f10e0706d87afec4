"""The evaluation of a served model: its invocation, what it refuses, and its results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.evaluation import (
    Evaluation,
    arguments,
    documents,
    result_file,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command

from tests.schemas import check

_ROLE = Path(__file__).parents[3] / "collections/ansible_collections/psap/perf/roles/serving_evaluate"


def evaluation(**given: Any) -> Evaluation:
    defaults = {option.short_name: option.default for option in read_command(_ROLE, _ROLE).arguments}
    required = {"endpoint_url": "http://a.example.com/base", "model": "tiny", "tasks": {"words": 0.6}}
    return convert({**defaults, **required, **given}, Evaluation)


def results(**given: Any) -> dict[str, Any]:
    numbers = {
        "alias": "words",
        "sample_len": 4,
        "exact_match,none": 0.75,
        "exact_match_stderr,none": 0.25,
        "f1,first": 0.5,
        "f1_stderr,first": "N/A",
    }
    return {
        "results": {"words": numbers},
        "higher_is_better": {"words": {"exact_match": True}},
        "n-samples": {"words": {"original": 9, "effective": 4}},
        "lm_eval_version": "0.4.13",
        **given,
    }


def test_arguments_use_the_api_without_a_tokenizer(tmp_path: Path) -> None:
    words = arguments(evaluation(samples=3, model_args={"num_concurrent": 1}), tmp_path)
    pairs = dict(zip(words[1::2], words[2::2], strict=False))
    assert pairs["--model"] == "local-completions"
    assert pairs["--limit"] == "3"
    assert json.loads(pairs["--model_args"]) == {
        "base_url": "http://a.example.com/base/v1/completions",
        "model": "tiny",
        "num_concurrent": 1,
        "tokenizer_backend": "none",
        "tokenized_requests": False,
    }
    chat = arguments(evaluation(api="chat"), tmp_path)
    assert "--apply_chat_template" in chat
    assert "local-chat-completions" in chat


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tasks": {}}, "tasks needs at least one task"),
        ({"tasks": {"words": 2}}, "the minimum accuracy of words must be a number from 0 to 1, not 2"),
        ({"samples": -1}, "samples cannot be negative"),
        ({"concurrency": 0}, "concurrency must be at least 1"),
        ({"tasks_path": "/missing"}, "the directory /missing does not exist"),
    ],
)
def test_invalid_arguments_are_refused(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        arguments(evaluation(**given), tmp_path)


def test_first_metric_is_the_accuracy_unless_another_is_chosen() -> None:
    (document,) = documents(evaluation(), results(), None)
    check(document)
    assert (document["metric"], document["accuracy"], document["standard_error"]) == ("exact_match,none", 0.75, 0.25)
    assert (document["minimum"], document["samples"]) == (0.6, 4)
    assert [metric["standard_error"] for metric in document["metrics"]] == [0.25, None]
    (other,) = documents(evaluation(metric="f1", tasks={"words": 0}), results(), None)
    assert (other["metric"], other["accuracy"], other["minimum"]) == ("f1,first", 0.5, None)


@pytest.mark.parametrize(
    ("wanted", "found", "message"),
    [
        ({}, {"results": {}}, "no numbers of task words"),
        ({"metric": "acc"}, {}, "task words has no metric acc; it has exact_match,none; f1,first"),
        ({}, {"higher_is_better": {"words": {"exact_match": False}}}, "a lower exact_match is better"),
    ],
)
def test_results_without_an_accuracy_are_an_error(wanted: dict[str, Any], found: dict[str, Any], message: str) -> None:
    with pytest.raises(DataQualityError, match=message):
        list(documents(evaluation(**wanted), results(**found), None))


def test_missing_results_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataQualityError, match="lm-eval left no results"):
        result_file(tmp_path)
