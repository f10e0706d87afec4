"""The dataclasses that verbs read match the declared arguments and their types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import command_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, PerfAction

COLLECTION = Path(__file__).resolve().parents[3] / "collections/ansible_collections/psap/perf"
ACTIONS = COLLECTION / "plugins/action"
READ = re.compile(r"context\.arguments\((\w+)\)")
SAMPLES: dict[str, Any] = {"int": 3, "float": 1.5, "bool": True}
# A document of another verb, without suboptions
CELL = {"index": 1, "name": "", "values": {}}


def read_by_verbs() -> Iterator[Any]:
    """Yield each verb with a dataclass that it reads, and the spec of a task."""
    for path in sorted(ACTIONS.rglob("*.py")):
        verb = ".".join(path.relative_to(ACTIONS).with_suffix("").parts)
        names = sorted(set(READ.findall(path.read_text(encoding="utf-8"))))
        if names:
            module = import_module(f"ansible_collections.psap.perf.plugins.action.{verb}")
            for spec in specs_of(verb, module.ActionModule):
                yield from (pytest.param(getattr(module, name), spec, id=f"{verb}-{name}") for name in names)


def specs_of(verb: str, action: type[PerfAction]) -> Iterator[dict[str, Any]]:
    if not issubclass(action, CommandAction):
        yield dict(action.ARGUMENTS)
        return
    task = re.compile(rf"psap\.perf\.{re.escape(verb)}:")
    for role in sorted(
        {path.parents[1] for path in COLLECTION.glob("roles/*/tasks/*.yml") if task.search(path.read_text())}
    ):
        yield {**command_spec(read_command(role, role)), **action.ARGUMENTS}


def sample(option: Mapping[str, Any]) -> Any:
    if option.get("default") is not None:
        return option["default"]
    kind = option["type"]
    if kind == "list":
        one = {"type": option["elements"], **{key: option[key] for key in ("choices", "options") if key in option}}
        return [sample(one)]
    if option.get("choices"):
        return option["choices"][0]
    if kind == "dict":
        return {name: sample(each) for name, each in option.get("options", {}).items()}
    # A text that is also a duration
    return SAMPLES.get(kind, "30")


@pytest.mark.parametrize("only_required", [True, False])
@pytest.mark.parametrize(("kind", "spec"), list(read_by_verbs()))
def test_declared_arguments_fit_the_dataclass(kind: type[Any], spec: dict[str, Any], only_required: bool) -> None:
    passed = {name: sample(option) for name, option in spec.items() if option.get("required") or not only_required}
    if "cell" in passed:
        passed["cell"] = CELL
    if "cells" in passed:
        passed["cells"] = [CELL]
    checked = ArgumentSpecValidator(spec).validate(passed)
    assert not checked.error_messages
    assert isinstance(convert(checked.validated_parameters, kind), kind)
