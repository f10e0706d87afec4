"""A verb that uses the arguments of its command: conversion, defaults and errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest.mock import MagicMock

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.plugin_utils import verb
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult

SPECIFICATION = """
argument_specs:
  main:
    short_description: A command of the tests
    options:
      demo_sample_count: {type: int, required: true, description: Required.}
      demo_sample_timeout: {type: str, default: 10m, description: A duration.}
      demo_sample_size: {type: str, choices: [small, large], default: small, description: A choice.}
      demo_sample_names: {type: list, elements: str, default: [], description: A list.}
      demo_sample_wait: {type: bool, default: true, description: A switch.}
      demo_sample_label: {type: str, description: Without a default.}
      demo_sample_disks:
        type: list
        elements: dict
        default: []
        description: Dictionaries.
        options:
          type: {type: str, required: true, description: Required.}
          number: {type: int, default: 1, description: With a default.}
      demo_sample_load:
        type: dict
        default: {}
        description: A dictionary.
        options:
          users: {type: int, default: 4, description: With a default.}
"""


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True)
class Disk:
    type: str
    number: int


@dataclass(frozen=True)
class Load:
    users: int


@dataclass(frozen=True)
class Arguments:
    count: int
    timeout: Seconds
    size: Size
    names: tuple[str, ...]
    wait: bool
    label: str | None
    disks: tuple[Disk, ...]
    load: Load
    passed: str


class Verb(CommandAction):
    """A verb of the tests; its task passes one option."""

    ARGUMENTS: ClassVar[Mapping[str, Any]] = {"passed": {"type": "str", "default": "nothing"}}

    read: Arguments

    def perform(self, context: VerbContext) -> VerbResult:
        self.read = context.arguments(Arguments)
        return VerbResult()


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERF_RUN_DIR", str(tmp_path / "run"))
    # The tests' process is not a worker of Ansible.
    monkeypatch.setattr(verb, "die_with_parent", lambda: None)


@pytest.fixture(name="role")
def _role(tmp_path: Path) -> SimpleNamespace:
    path = tmp_path / "demo_sample"
    (path / "meta").mkdir(parents=True)
    (path / "meta/argument_specs.yml").write_text(SPECIFICATION, encoding="utf-8")
    return SimpleNamespace(_role_path=str(path))


def run(role: SimpleNamespace | None, variables: Mapping[str, Any], **passed: Any) -> tuple[Verb, dict[str, Any]]:
    """Return the verb after a task of *role* with these variables, and its result."""
    task = MagicMock(
        _role=role, action="psap.perf.verb", args=passed, environment=[], async_val=0, check_mode=False, diff=False
    )
    templar = SimpleNamespace(template=lambda value: value)
    action = Verb(task, MagicMock(transport="local"), MagicMock(), MagicMock(), templar, MagicMock())
    return action, action.run(task_vars={f"demo_sample_{name}": value for name, value in variables.items()})


def read(role: SimpleNamespace, **variables: Any) -> Arguments:
    action, result = run(role, variables)
    assert not result.get("failed"), result
    return action.read


def test_missing_arguments_have_the_defaults_of_the_specification(role: SimpleNamespace) -> None:
    assert read(role, count=2) == Arguments(2, Seconds(600), Size.SMALL, (), True, None, (), Load(4), "nothing")


def test_texts_of_the_command_line_have_the_declared_types(role: SimpleNamespace) -> None:
    found = read(role, count="3", wait="no", size="large", timeout="90s", names="a,b", label=5)
    assert (found.count, found.wait, found.size, found.timeout) == (3, False, Size.LARGE, 90.0)
    assert (found.names, found.label) == (("a", "b"), "5")


def test_nested_dictionaries_have_the_defaults_of_their_keys(role: SimpleNamespace) -> None:
    found = read(role, count=1, disks=[{"type": "nvme", "number": "2"}, {"type": "ssd"}], load={"users": "8"})
    assert (found.disks, found.load) == ((Disk("nvme", 2), Disk("ssd", 1)), Load(8))


def test_option_of_the_task_is_read_next_to_the_arguments(role: SimpleNamespace) -> None:
    action, _result = run(role, {"count": 1}, passed="something")
    assert action.read.passed == "something"


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "demo_sample: missing required arguments: count"),
        ({"count": "many"}, "demo_sample: .*count.* is of type str and we were unable to convert to int"),
        ({"count": 1, "size": "huge"}, "demo_sample: value of size must be one of: small, large, got: huge"),
        ({"count": 1, "disks": [{}]}, "demo_sample: missing required arguments: type found in disks"),
        ({"count": 1, "load": {"user": 1}}, r"demo_sample: load\.user"),
        ({"count": 1, "timeout": "soon"}, "timeout: 'soon' is not a duration"),
    ],
)
def test_invalid_values_are_refused_with_role_and_argument(
    role: SimpleNamespace, variables: dict[str, Any], message: str
) -> None:
    _action, result = run(role, variables)
    assert (result["failed"], result["exit_code"], result["error_kind"]) == (True, 2, "UsageError")
    assert re.search(message, result["msg"]), result["msg"]


def test_task_outside_a_role_is_refused() -> None:
    _action, result = run(None, {})
    assert result["failed"] and "psap.perf.verb reads its arguments from a command" in result["msg"]
