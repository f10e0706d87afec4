"""The rules of rights that roles declare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project

_ROLES = Path(__file__).resolve().parents[2] / "roles"


def rules_of(role: str) -> list[dict[str, Any]]:
    """Return the rules in the role's ``meta/rights.yml``; the role is of this collection, or a command of the project.

    Raises:
        UsageError: If there are none.
    """
    own = _ROLES / role
    folder = own if own.is_dir() else Project(RunEnvironment.read().project).role(role).folder
    path = folder / "meta" / "rights.yml"
    if not path.exists():
        raise UsageError(f"rights: the role {role} has no meta/rights.yml")
    rules: list[dict[str, Any]] = read_yaml(path)["rights"]
    return rules
