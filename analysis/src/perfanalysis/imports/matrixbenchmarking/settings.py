"""The settings of a test: files named `settings` in its directory and in those above it, the deeper one winning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.errors import UsageError
from perfanalysis.imports.matrixbenchmarking.values import read_yaml, yaml_value

MARKS = ("settings.yaml", "settings.yml", "settings")
"""Files that make the directory that holds one a test; other files `settings.*` only add to those below them."""
OLD = "settings"
REPETITION = "@"
"""How the names of settings begin that only count repetitions of a test."""
IN_NO_KEY = "stats"
_SPLIT = re.compile(r"(?<!\\):")


def is_settings(name: str) -> bool:
    """Whether a file of this name holds settings."""
    return name == OLD or (name.startswith("settings.") and name.endswith((".yaml", ".yml")))


def read_settings(path: Path) -> dict[str, Any]:
    """The settings of one file. Raises ValueError or OSError saying what is wrong with it."""
    if path.name == OLD:
        return _old(path.read_text(encoding="utf-8", errors="replace"))
    found = read_yaml(path)
    if not isinstance(found, dict | None):
        raise ValueError("it holds no mapping of settings")
    return found or {}


def _old(text: str) -> dict[str, Any]:
    """Lines `key=value`, the values as YAML would read them: `count=4` is the same as `count: 4`."""
    settings = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.lstrip().startswith("#"):
            settings[name.strip()] = _scalar(value.strip())
    return settings


def _scalar(text: str) -> Any:
    try:
        value = yaml_value(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text


def key_of(settings: Mapping[str, Any]) -> str:
    """What must differ between two tests of a tree."""
    return "|".join(f"{name}={settings[name]}" for name in sorted(settings) if name != IN_NO_KEY)


@dataclass(frozen=True)
class Filter:
    """A setting and the values that it may have, as text."""

    name: str
    values: frozenset[str]

    def takes(self, settings: Mapping[str, Any]) -> bool:
        """Whether a test is wanted."""
        return self.name in settings and str(settings[self.name]) in self.values


def filters_of(texts: Iterable[str]) -> tuple[Filter, ...]:
    r"""Filters written `key=a:b,other=c`; a colon in a value is written `\:`. Raises UsageError."""
    found = []
    for part in (part for text in texts for part in text.split(",") if part.strip()):
        name, equals, values = part.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--filter {part!r} must be such as model=tiny:small, a setting and its values")
        found.append(Filter(name.strip(), frozenset(value.replace("\\:", ":") for value in _SPLIT.split(values))))
    return tuple(found)
