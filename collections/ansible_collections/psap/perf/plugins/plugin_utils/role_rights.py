"""The rules of rights that roles of the collection declare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

_ROLES = Path(__file__).resolve().parents[2] / "roles"


def rules_of(role: str) -> list[dict[str, Any]]:
    """Return the rules in the role's ``meta/rights.yml``.

    Raises:
        UsageError: If there are none.
    """
    path = _ROLES / role / "meta" / "rights.yml"
    if not path.exists():
        raise UsageError(f"rights: the role {role} has no meta/rights.yml")
    rules: list[dict[str, Any]] = read_yaml(path)["rights"]
    return rules
