"""Which objects a request is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """Which objects: one by name, or all that the selectors match."""

    api_version: str
    kind: str
    namespace: str | None = None
    name: str | None = None
    label_selector: str | None = None
    field_selector: str | None = None

    def __str__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else ""
        if self.name:
            return f"{self.kind} {self.name}{where}"
        chosen = ",".join(filter(None, (self.label_selector, self.field_selector)))
        return f"{self.kind} objects{where}{f' with {chosen}' if chosen else ''}"
