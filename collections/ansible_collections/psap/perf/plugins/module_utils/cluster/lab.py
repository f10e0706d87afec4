"""What documents say of a lab: which of its parts are real, which emulated, and which simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Lab:
    """The lab that a cluster is: its name, and what of it runs itself, is emulated, or is simulated."""

    name: str
    real: tuple[str, ...] = ()
    emulated: tuple[str, ...] = ()
    simulated: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The value ``lab`` of ``run.json`` and of recordings."""
        parts = {"real": self.real, "emulated": self.emulated, "simulated": self.simulated}
        return {"name": self.name, **{word: list(names) for word, names in parts.items()}}


def lab_of(data: Mapping[str, str] | None) -> Lab | None:
    """The lab, by the *data* of its ConfigMap ``kube-system/perflab``; None for a cluster without one."""
    if data is None:
        return None
    return Lab(data.get("name", ""), *(_names(data.get(word)) for word in ("real", "emulated", "simulated")))


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
