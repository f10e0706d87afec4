"""A verb's documentation is its argument check: said once, in ``plugins/modules/<verb>.py`` and the fragments there."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from ansible.module_utils.common.yaml import yaml_load

_CHECKED = ("type", "elements", "choices", "default", "required", "aliases", "no_log")


def argument_spec(documentation: str) -> dict[str, dict[str, Any]]:
    """The argument spec that a plugin's DOCUMENTATION describes, nested ``suboptions`` and fragments included."""
    described = yaml_load(documentation)
    shared = [_fragment(name) for name in described.get("extends_documentation_fragment") or ()]
    options: dict[str, Any] = {}
    for one in (*shared, described):
        options |= one.get("options") or {}
    return _options(options)


def _fragment(name: str) -> Mapping[str, Any]:
    """The documentation fragment ``psap.perf.<name>``."""
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
            # a dictionary that is not given has the defaults of its keys
            option["apply_defaults"] = True
    return option
