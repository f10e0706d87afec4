"""The configuration of a trainer: a base, hyper-parameters over it, and the command's own parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.configuration import merge_configuration

FILES = (
    Path(__file__).resolve().parents[3]
    / "collections/ansible_collections/psap/perf/roles/fine_tuning_run_fine_tuning_job/files"
)
BASE = {"environment": {"A": "1"}, "peft_method": "none", "epochs": 1, "nested": {"a": 1, "b": 2}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {}),
        ({"peft_method": "lora", "r": 4}, {"peft_method": "lora", "r": 4}),
        ({"nested": {"b": 3, "c": None}}, {"nested": {"a": 1, "b": 3}}),
        ({"nested": {"a": None}}, {"nested": {"b": 2}}),
        ({"nested": 5}, {"nested": 5}),
        ({"new": {"a": None, "b": {"c": 1}}}, {"new": {"b": {"c": 1}}}),
        (
            {"raw_lists": {"target_modules": ["q_proj", "k_proj"]}, "r": 4},
            {"target_modules": ["q_proj", "k_proj"], "r": 4},
        ),
        ({"target_modules": ["all-linear"]}, {"target_modules": ["all-linear"]}),
        ({"raw_lists": None}, {}),
    ],
)
def test_hyper_parameters_override_the_base(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert merge_configuration(BASE, given, {}) == {**BASE, **expected}


def test_null_removes_a_key() -> None:
    assert "epochs" not in merge_configuration(BASE, {"epochs": None, "never": None}, {})
    assert "never" not in merge_configuration(BASE, {"epochs": None, "never": None}, {})


def test_upper_case_names_are_environment_variables() -> None:
    given = {"NCCL_SOCKET_NTHREADS": 4, "NCCL_IB_DISABLE": True, "A": None, "R2": 1.5, "environment": {"B": 2}}
    made = merge_configuration(BASE, given, {})
    assert made["environment"] == {"NCCL_SOCKET_NTHREADS": "4", "NCCL_IB_DISABLE": "true", "R2": "1.5", "B": "2"}
    assert not {"NCCL_SOCKET_NTHREADS", "A", "R2"} & set(made)


def test_inputs_are_not_modified() -> None:
    given = {"nested": {"a": 9}, "raw_lists": {"x": [1]}}
    merge_configuration(BASE, given, {"output_dir": "/o"})
    assert BASE["nested"] == {"a": 1, "b": 2}
    assert given == {"nested": {"a": 9}, "raw_lists": {"x": [1]}}


def test_reserved_parameters_are_refused() -> None:
    decided = {"output_dir": "/mnt/output", "model": "m"}
    assert merge_configuration(BASE, {}, decided)["output_dir"] == "/mnt/output"
    with pytest.raises(UsageError, match="hyper_parameters: model, output_dir follows from"):
        merge_configuration(BASE, {"output_dir": "/tmp", "raw_lists": {"model": ["x"]}}, decided)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"raw_lists": ["q_proj"]}, r"hyper_parameters.raw_lists must be a mapping of names to lists"),
        ({"NCCL_DEBUG": ["INFO"]}, "the environment variable NCCL_DEBUG cannot be"),
    ],
)
def test_invalid_configuration_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        merge_configuration(BASE, given, {})


@pytest.mark.parametrize("workload", ["fms", "ilab"])
def test_base_configurations_of_the_role_can_be_merged(workload: str) -> None:
    base = yaml.safe_load((FILES / f"base_{workload}.yml").read_text(encoding="utf-8"))
    made = merge_configuration(base, {}, {})
    assert made == base
    assert all(isinstance(value, str) for value in made["environment"].values())
