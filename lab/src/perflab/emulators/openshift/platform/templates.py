"""OpenShift's Templates: objects with parameters in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from perflab.cluster.api import Document

_PARAMETER = re.compile(r"\$\{([A-Z0-9_]+)\}")


def instantiate(template: Document, given: Mapping[str, str]) -> list[Document]:
    """The objects of a Template with each `${NAME}` replaced: by what is given, else by the template's own value."""
    own = {each["name"]: each.get("value", "") for each in template.get("parameters") or ()}
    objects: list[Document] = _replaced(template.get("objects") or [], {**own, **given})
    return objects


def _replaced(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        # one that nobody knows stays, as OpenShift leaves it
        return _PARAMETER.sub(lambda found: values.get(found[1], found[0]), value)
    if isinstance(value, list):
        return [_replaced(each, values) for each in value]
    if isinstance(value, dict):
        return {name: _replaced(each, values) for name, each in value.items()}
    return value
