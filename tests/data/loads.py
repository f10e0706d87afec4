"""Loads of tests and benches: the defaults of scale_test_submit, with changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load import Load
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command

ROLE = Path(__file__).resolve().parents[2] / "collections/ansible_collections/psap/perf/roles/scale_test_submit"
DEFAULTS: dict[str, Any] = {option.short_name: option.default for option in read_command(ROLE, ROLE).arguments}


def load(**changes: Any) -> Load:
    """Return a load without scrapes of metrics, with *changes* by argument; durations are seconds."""
    own = {"image": "registry.example/sleeper:1", "metrics_interval": 0.0}
    return replace(convert(DEFAULTS, Load), **{**own, **changes})
