"""The catalogue of the models that the collection knows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.merge_patch import merged

_SHIPPED = Path(__file__).resolve().parents[2] / "roles/kserve_deploy_model/files/models.yml"


def catalogue(more: Mapping[str, Any]) -> dict[str, Any]:
    """All known models by name, with *more* that a user gives, or changes key by key."""
    return merged(yaml.safe_load(_SHIPPED.read_text(encoding="utf-8")), more)
