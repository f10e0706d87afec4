"""Functions for the rules of projects: OpenShift's Templates, and the users of a Namespace."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from perflab.cluster.api import Document

_PARAMETER = re.compile(r"\$\{([A-Z0-9_]+)\}")
_REQUESTER = "system:admin"
_SECURITY = "openshift.io/sa.scc"
_FIRST_USER, _USERS_EACH, _RANGES = 1_000_000_000, 10_000, 100_000


def instantiate(template: Document, request: Document) -> list[Document]:
    """Return the objects of a Template, with `${NAME}` replaced by the value of *request*, or the template's."""
    given = {
        "PROJECT_NAME": request["metadata"]["name"],
        "PROJECT_DISPLAYNAME": request.get("displayName", ""),
        "PROJECT_DESCRIPTION": request.get("description", ""),
        "PROJECT_ADMIN_USER": _REQUESTER,
        "PROJECT_REQUESTING_USER": _REQUESTER,
    }
    own = {each["name"]: each.get("value", "") for each in template.get("parameters") or ()}
    objects: list[Document] = _replaced(template.get("objects") or [], {**own, **given})
    return objects


def _replaced(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        # unknown ones stay, as in OpenShift
        return _PARAMETER.sub(lambda found: values.get(found[1], found[0]), value)
    if isinstance(value, list):
        return [_replaced(each, values) for each in value]
    if isinstance(value, dict):
        return {name: _replaced(each, values) for name, each in value.items()}
    return value


def security(name: str, present: Mapping[str, str]) -> dict[str, str]:
    """Return the missing annotations of security contexts of a Namespace."""
    # any range will do, as long as a namespace keeps its own
    number = zlib.crc32(name.encode()) % _RANGES
    users = f"{_FIRST_USER + number * _USERS_EACH}/{_USERS_EACH}"
    low, high = sorted((number % 1024, (number // 1024 + number + 1) % 1024))
    wanted = {
        f"{_SECURITY}.mcs": f"s0:c{high},c{low}",
        f"{_SECURITY}.supplemental-groups": users,
        f"{_SECURITY}.uid-range": users,
    }
    return {key: value for key, value in wanted.items() if key not in present}


FUNCTIONS: Mapping[str, Callable[..., Any]] = {"instantiate": instantiate, "security": security}
