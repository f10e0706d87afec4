"""The document ``settings.yml``: every value of a run with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SCHEMA = "psap.perf/settings/1"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A value in force; of a secret it is the reference."""

    value: Any
    origin: str
    secret: bool = False
    compare: str | None = None

    def as_entry(self) -> dict[str, Any]:
        """The entry in the document."""
        entry = {"value": self.value, "origin": self.origin}
        if self.compare is not None:
            entry["compare"] = self.compare
        return {**entry, "secret": True} if self.secret else entry


def settings_document(everyone: Mapping[str, Recorded], hosts: Mapping[str, Mapping[str, Recorded]]) -> dict[str, Any]:
    """The document of what holds for all hosts, and of what is different on some."""
    different = {
        host: {
            name: one.as_entry()
            for name, one in sorted(values.items())
            if name not in everyone or everyone[name].value != one.value
        }
        for host, values in sorted(hosts.items())
    }
    return {
        "schema": SCHEMA,
        "all": {name: one.as_entry() for name, one in sorted(everyone.items())},
        "hosts": {host: entries for host, entries in different.items() if entries},
    }
