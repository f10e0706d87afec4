"""One program of a lab: its start, and its health check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Program:
    """A program to start. `health` is the URL that returns 200 once it is ready, None without a check."""

    name: str
    command: tuple[str | Path, ...]
    health: str | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return its record in `lab.json`, sufficient to start it again."""
        return {
            "command": [str(part) for part in self.command],
            "health": self.health,
            "environment": self.environment,
        }

    @classmethod
    def read(cls, name: str, document: Mapping[str, Any]) -> Program:
        """Return the program that `document` describes."""
        return cls(name, tuple(document["command"]), document["health"], dict(document["environment"]))
