"""The description of a job for the programs in its pods."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.description import check_job, config_maps

JOB: dict[str, Any] = {
    "name": "granite-lora",
    "workload": "fms",
    "pods": 1,
    "gpus_per_pod": 8,
    "dataset": {"name": "alpaca.json", "replication": 2.5},
}


def test_valid_job_is_described() -> None:
    assert check_job(JOB) == JOB
    assert check_job({**JOB, "name": "a" * 50, "gpus_per_pod": 0})["gpus_per_pod"] == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "1-is-first"}, "1-is-first is not a valid job name"),
        ({"name": "a" * 51}, "is not a valid job name"),
        ({"name": "ends-"}, "is not a valid job name"),
        ({"pods": 0}, "pod_count begins at 1"),
        ({"gpus_per_pod": -1}, "gpu at 0"),
        ({"dataset": {"replication": 0}}, "dataset_replication is above 0"),
    ],
)
def test_invalid_job_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        check_job({**JOB, **wrong})


def test_all_mistakes_are_reported_together() -> None:
    with pytest.raises(UsageError, match=r"not a valid job name; .*; pod_count begins at 1"):
        check_job({**JOB, "name": "Big", "pods": 0})


def test_job_files_go_into_config_maps() -> None:
    made = config_maps(JOB, {"r": 4, "text": "é"}, {"entrypoint": {"a.py": "print()\n"}})
    assert [each["metadata"]["name"] for each in made] == ["granite-lora-config", "granite-lora-entrypoint"]
    assert {each["metadata"]["labels"]["psap.perf/fine-tuning-job"] for each in made} == {"granite-lora"}
    described, programs = (each["data"] for each in made)
    assert json.loads(described["job.json"]) == JOB
    assert json.loads(described["config.json"]) == {"r": 4, "text": "é"}
    assert programs == {"a.py": "print()\n"}
