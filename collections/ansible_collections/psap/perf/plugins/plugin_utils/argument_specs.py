"""Argument specs for Ansible's checks of a verb's arguments, from its documentation or its command."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ansible.module_utils.common.yaml import yaml_load
from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import CommandSpec, Option

_CHECKED = ("type", "elements", "choices", "default", "required", "aliases", "no_log")


def argument_spec(documentation: str) -> dict[str, dict[str, Any]]:
    """Return the argument spec in a plugin's DOCUMENTATION, including nested ``suboptions`` and fragments."""
    described = yaml_load(documentation)
    shared = [_fragment(name) for name in described.get("extends_documentation_fragment") or ()]
    options: dict[str, Any] = {}
    for one in (*shared, described):
        options |= one.get("options") or {}
    return _options(options)


def _fragment(name: str) -> Mapping[str, Any]:
    """Return the documentation fragment ``psap.perf.<name>``."""
    module = import_module(f"ansible_collections.psap.perf.plugins.doc_fragments.{name.rpartition('.')[2]}")
    fragment: Mapping[str, Any] = yaml_load(module.ModuleDocFragment.DOCUMENTATION)
    return fragment


def _options(options: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: _option(described) for name, described in options.items()}


def _option(described: Mapping[str, Any]) -> dict[str, Any]:
    option = {key: described[key] for key in _CHECKED if key in described}
    if "suboptions" in described:
        option["options"] = _options(described["suboptions"])
        if option["type"] == "dict" and not option.get("required"):
            # a missing dictionary has the defaults of its keys
            option["apply_defaults"] = True
    return option


def command_arguments(command: CommandSpec, variables: Mapping[str, Any]) -> list[tuple[Option, Any]]:
    """Return each argument of *command* with its value, or its declared default.

    A secret stays a reference. A required argument without a value is left out.
    """
    return [
        (each, plain(variables.get(each.name, each.default)))
        for each in command.arguments
        if each.name in variables or not each.required
    ]


def command_spec(command: CommandSpec) -> dict[str, dict[str, Any]]:
    """Return the argument spec of a verb with the arguments of *command*, by their short names."""
    return {each.short_name: _checks(each) for each in command.arguments}


def _checks(option: Option) -> dict[str, Any]:
    """Return Ansible's checks of *option*."""
    checks: dict[str, Any] = {"type": option.type, "required": option.required, "no_log": option.secret}
    if option.default is not None:
        checks["default"] = option.default
    if option.choices:
        checks["choices"] = list(option.choices)
    if option.elements:
        checks["elements"] = option.elements
    if option.options:
        checks["options"] = {each.name: _checks(each) for each in option.options}
        # a missing dictionary has the defaults of its keys
        checks["apply_defaults"] = option.type == "dict" and not option.required
    return checks
