"""Parse taints of users, `key=value:effect`, and write them as nodes have them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_WRITTEN = re.compile(rf"([^=:\s]+)=([^=:\s]*):({'|'.join(EFFECTS)})")


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint; machines and nodes also get its key and value as a label, for node selectors."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"

    def entry(self) -> dict[str, str]:
        """Return it as an entry of ``spec.taints``."""
        return {"key": self.key, "value": self.value, "effect": self.effect}


def parse_taints(texts: Iterable[str]) -> tuple[Taint, ...]:
    """Return the taints in *texts*.

    Raises:
        UsageError: If one is invalid.
    """
    return tuple(_parse(text) for text in texts if text)


def _parse(text: str) -> Taint:
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise UsageError(f"taint: {text!r} is not key=value:effect, with one of the effects {', '.join(EFFECTS)}")
    return Taint(*found.groups())
