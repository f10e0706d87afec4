"""One program of a lab: how it is started, and how to know that it is ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Program:
    """A program to start. `health` is the URL that answers 200 once it is ready, None when nothing asks."""

    name: str
    command: tuple[str | Path, ...]
    health: str | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """What `lab.json` keeps of it, enough to start it again."""
        return {
            "command": [str(part) for part in self.command],
            "health": self.health,
            "environment": self.environment,
        }

    @classmethod
    def read(cls, name: str, document: Mapping[str, Any]) -> Program:
        """The program that `document` describes."""
        return cls(name, tuple(document["command"]), document["health"], dict(document["environment"]))
