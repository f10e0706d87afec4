"""The configuration that a trainer gets: a base, the user's hyper-parameters over it, and what the command decides.

Hyper-parameters are an open dictionary: what a trainer understands, it may be given.
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


def merged(base: Mapping[str, Any], hyper_parameters: Mapping[str, Any], decided: Mapping[str, Any]) -> Configuration:
    """*base* with *hyper_parameters* over it, and *decided*, which none of them may set.

    Dictionaries merge by key and null takes a key away. A name in capitals, such as ``NCCL_SOCKET_NTHREADS``, is an
    environment variable. What stands below ``raw_lists`` goes beside the others.

    :raises UsageError: when a hyper-parameter sets what the command decides.
    """
    given = _arranged(hyper_parameters)
    taken = sorted(set(given) & set(decided))
    if taken:
        raise UsageError(
            f"hyper_parameters: {', '.join(taken)} follows from the command's other arguments; leave it out there"
        )
    configuration = _over(_over(base, given), decided)
    variables = configuration.get(ENVIRONMENT) or {}
    configuration[ENVIRONMENT] = {name: _as_variable(name, value) for name, value in variables.items()}
    return configuration


def _arranged(hyper_parameters: Mapping[str, Any]) -> Configuration:
    """Raw lists beside the others, variables below ``environment``."""
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
