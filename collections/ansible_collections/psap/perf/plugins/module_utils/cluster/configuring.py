"""Values set in a YAML text, beside what others say in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.documents import dump_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError


def configured(text: str, values: Mapping[str, Any], where: str) -> str:
    """*text* as it says *values*, too; the same text when it does already.

    :raises UsageError: when *text* is no YAML, or no dictionary: what is broken is not to be lost by a merge.
    """
    try:
        present = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{where} holds something that is no YAML, repair or remove it: {error}") from error
    present = {} if present is None else present
    if not isinstance(present, dict):
        raise UsageError(f"{where} holds a {type(present).__name__} instead of a dictionary; repair or remove it")
    merged = _merged(present, values)
    return text if merged == present else dump_yaml(merged)


def _merged(present: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = dict(present) if isinstance(present, Mapping) else {}
    for key, value in values.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value) if isinstance(value, Mapping) else value
    return result
