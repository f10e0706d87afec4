"""Checked arguments as the frozen dataclass that a verb reads."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, TypeVar

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

# ansible-doc lists filters also where only Ansible is installed
with contextlib.suppress(ImportError):
    import msgspec

T = TypeVar("T")


def convert(values: Mapping[str, Any], kind: type[T]) -> T:
    """Return *values* as a *kind*; values that *kind* has no field for are left out.

    Args:
        values: Arguments by name, with their defaults.
        kind: A frozen dataclass. Lists become tuples, texts become enumerations, and durations become `Seconds` where
            its fields are of these types.

    Raises:
        UsageError: If a value does not fit its field.
    """
    try:
        return msgspec.convert(plain(values), kind, dec_hook=_decode)
    except msgspec.ValidationError as error:
        what, _at, where = str(error).partition(" - at `$.")
        raise UsageError(f"{where.rstrip('`')}: {what}" if where else what) from error


def _decode(kind: type[Any], value: object) -> Any:
    if kind is not Seconds:
        raise TypeError(f"no argument can have the type {kind.__name__}")
    try:
        return Seconds.parse(value)
    except UsageError as error:
        # msgspec adds the name of the field
        raise ValueError(str(error)) from error
