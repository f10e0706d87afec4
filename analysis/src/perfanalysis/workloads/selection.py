"""Which workloads of a recording are looked at: all, or the first or last ones by submission."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Selection:
    """At most `first` workloads from the beginning, then at most `last` of these from the end; None for all."""

    first: int | None = None
    last: int | None = None

    @property
    def words(self) -> str:
        """Such as "first 100", "last 20 of the first 100"; empty for all."""
        first = "" if self.first is None else f"first {self.first}"
        if self.last is None:
            return first
        return f"last {self.last} of the {first}" if first else f"last {self.last}"

    @property
    def folder(self) -> str:
        """A name for what is written of it."""
        parts = (("first", self.first), ("last", self.last))
        return "-".join(f"{word}-{number}" for word, number in parts if number is not None)

    def of(self, ordered: list[Item]) -> list[Item]:
        """The chosen ones of items in order."""
        chosen = ordered if self.first is None else ordered[: self.first]
        return chosen if self.last is None else chosen[max(len(chosen) - self.last, 0) :]
