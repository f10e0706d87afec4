"""Taints as users write them, `key=value:effect`, and as nodes have them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_WRITTEN = re.compile(rf"([^=:\s]+)=([^=:\s]*):({'|'.join(EFFECTS)})")


@dataclass(frozen=True, slots=True)
class Taint:
    """One taint; machines and nodes have its key and value as a label, too, for what shall run just there."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"

    def entry(self) -> dict[str, str]:
        """As an entry of ``spec.taints``."""
        return {"key": self.key, "value": self.value, "effect": self.effect}


def parse_taints(texts: Iterable[str]) -> tuple[Taint, ...]:
    """The taints that *texts* write.

    :raises UsageError: when one is none.
    """
    return tuple(_parse(text) for text in texts if text)


def _parse(text: str) -> Taint:
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise UsageError(f"taint: {text!r} is not key=value:effect, with one of the effects {', '.join(EFFECTS)}")
    return Taint(*found.groups())
