"""What is taken out of a history's documents before they leave the folder: names of machines, addresses, secrets.

The rules are data, so that a team adds its own: `perfanalysis history export --rules FILE`.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.documents import Document, listing, mapping
from perfanalysis.errors import UsageError

REPLACED = "(scrubbed)"


@dataclass(frozen=True)
class Rules:
    """`drop` are patterns of names of facts and keys that go whole; `replace` patterns of text that go from values."""

    drop: tuple[str, ...]
    replace: tuple[re.Pattern[str], ...]


STANDARD = Rules(
    drop=("cluster.server", "site", "lab", "*kubeconfig*", "*proxy*", "*password*", "*token", "*secret*"),
    replace=(
        # references to secrets, of which even the name is nobody's business
        re.compile(r"\b(?:file|env|vault):[\w./-]+"),
        # OpenShift's tokens, JSON Web Tokens, credentials in a URL
        re.compile(r"sha256~[\w-]{20,}"),
        re.compile(r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}"),
        re.compile(r"(?<=://)[^/@\s]+@"),
        # addresses, and hosts in a URL
        re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b"),
        re.compile(r"(?<=://)[^/\s\"']+"),
    ),
)


def read_rules(path: Path) -> Rules:
    """A YAML file of more rules: `drop` (names, `*` allowed) and `replace` (regular expressions).

    Raises UsageError naming what is wrong with it.
    """
    import yaml

    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    unknown = ", ".join(map(str, mapping(loaded).keys() - {"drop", "replace"}))
    if not isinstance(loaded, dict) or unknown:
        raise UsageError(
            f"{path} must have the keys drop and replace, each a list" + (f", not {unknown}" * bool(unknown))
        )
    try:
        replace = tuple(re.compile(str(text)) for text in listing(loaded.get("replace")))
    except re.error as error:
        raise UsageError(f"{path}: {error.pattern!r} is no regular expression: {error}") from error
    own = tuple(str(name) for name in listing(loaded.get("drop")))
    return Rules((*STANDARD.drop, *own), (*STANDARD.replace, *replace))


def scrub(document: Document, rules: Rules) -> Document:
    """The document without what the rules name; numbers and names of KPIs stay."""
    scrubbed = {**document, "facts": _scrubbed(mapping(document.get("facts")), rules)}
    scrubbed["recordings"] = [
        {
            **recording,
            "labels": _scrubbed(mapping(recording.get("labels")), rules),
            "keys": _scrubbed(mapping(recording.get("keys")), rules),
        }
        for recording in map(mapping, listing(document.get("recordings")))
    ]
    return scrubbed


def _scrubbed(values: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    kept = {name: value for name, value in values.items() if not _is_dropped(name, rules)}
    return {name: _value(value, rules) for name, value in kept.items()}


def _is_dropped(name: str, rules: Rules) -> bool:
    return any(fnmatch.fnmatchcase(name.removeprefix("setting."), pattern) for pattern in rules.drop)


def _value(value: Any, rules: Rules) -> Any:
    if isinstance(value, dict):
        return {str(name): _value(part, rules) for name, part in value.items() if not _is_dropped(str(name), rules)}
    if isinstance(value, list):
        return [_value(part, rules) for part in value]
    if not isinstance(value, str):
        return value
    for pattern in rules.replace:
        value = pattern.sub(REPLACED, value)
    return value
