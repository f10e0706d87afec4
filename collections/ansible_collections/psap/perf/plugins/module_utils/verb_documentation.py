"""A verb's documentation is its argument check: said once, in ``plugins/modules/<verb>.py``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

_CHECKED = ("type", "elements", "choices", "default", "required", "aliases", "no_log", "apply_defaults")


def argument_spec(documentation: str) -> dict[str, dict[str, Any]]:
    """The argument spec that a plugin's DOCUMENTATION describes, nested ``suboptions`` included."""
    return _options(yaml.safe_load(documentation).get("options") or {})


def _options(options: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: _option(described) for name, described in options.items()}


def _option(described: Mapping[str, Any]) -> dict[str, Any]:
    option = {key: described[key] for key in _CHECKED if key in described}
    if "suboptions" in described:
        option["options"] = _options(described["suboptions"])
    return option
