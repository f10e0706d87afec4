"""The configuration of a trainer: a base, the user's hyper-parameters over it, and the values that the command sets.

Hyper-parameters are an open dictionary: any option of the trainer is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import RAW_LISTS

ENVIRONMENT = "environment"
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")

Configuration = dict[str, Any]


def merge_configuration(
    base: Mapping[str, Any], hyper_parameters: Mapping[str, Any], decided: Mapping[str, Any]
) -> Configuration:
    """Return *base* with *hyper_parameters* over it, and *decided* over both.

    Dictionaries merge by key; null removes a key. A name in capitals, such as ``NCCL_SOCKET_NTHREADS``, is an
    environment variable. The lists in ``raw_lists`` become hyper-parameters.

    Raises:
        UsageError: If a hyper-parameter sets a key of *decided*.
    """
    given = _arrange(hyper_parameters)
    taken = sorted(set(given) & set(decided))
    if taken:
        raise UsageError(f"hyper_parameters: {', '.join(taken)} follows from the command's other arguments; remove it")
    configuration = _over(_over(base, given), decided)
    variables = configuration.get(ENVIRONMENT) or {}
    configuration[ENVIRONMENT] = {name: _as_variable(name, value) for name, value in variables.items()}
    return configuration


def _arrange(hyper_parameters: Mapping[str, Any]) -> Configuration:
    """Return the hyper-parameters with raw lists merged and variables in ``environment``."""
    raw = hyper_parameters.get(RAW_LISTS) or {}
    if not isinstance(raw, Mapping):
        raise UsageError(f"hyper_parameters.{RAW_LISTS} must be a mapping of names to lists, not {raw!r}")
    flat = {**{key: value for key, value in hyper_parameters.items() if key != RAW_LISTS}, **raw}
    variables = {key: value for key, value in flat.items() if _VARIABLE.fullmatch(key)}
    others = {key: value for key, value in flat.items() if key not in variables}
    if variables:
        others[ENVIRONMENT] = {**(others.get(ENVIRONMENT) or {}), **variables}
    return others


def _over(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> Configuration:
    result = {key: value for key, value in lower.items() if value is not None}
    for key, value in upper.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            below = result.get(key)
            result[key] = _over(below if isinstance(below, Mapping) else {}, value)
        else:
            result[key] = value
    return result


def _as_variable(name: str, value: Any) -> str:
    if isinstance(value, Mapping | list):
        raise UsageError(f"hyper_parameters: the environment variable {name} cannot be {value!r}")
    return str(value).lower() if isinstance(value, bool) else str(value)
