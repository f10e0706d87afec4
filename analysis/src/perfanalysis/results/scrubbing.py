"""Remove names of machines and people, addresses and secrets from a document before it is shared.

The rules are data, so that a team can add its own with `--rules FILE`. Every export uses `scrub`: `payload`, `history
export`, `history push`.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.errors import UsageError
from perfanalysis.files.credentials import hide
from perfanalysis.files.documents import Document
from perfanalysis.files.typed_yaml import load_typed

REPLACED = "(scrubbed)"
DROPPED = (
    "cluster.server",
    "site",
    "lab",
    *("*kubeconfig*", "*proxy*", "*hostname*", "*endpoint*"),
    *("*password*", "*passwd*", "*token", "*secret*", "*credential*", "*api_key*"),
)
"""Names of facts, keys and labels, also nested ones, that are removed with their values."""
REPLACEMENTS = {
    "references to secrets, including their names": r"\b(?:file|env|vault):[\w./-]+",
    "passwords and tokens as NAME=VALUE": r"(?i)\b[\w-]*(?:password|passwd|token|secret|api[_-]?key)=[^\s&,;]+",
    "users in a URL": r"(?<=://)[^/@\s]+@",
    "mail addresses": r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b",
    "people's directories": r"(?<=/home/)[^/\s:]+|(?<=/Users/)[^/\s:]+",
    "IPv4 addresses, with a port": r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b",
    "IPv6 and hardware addresses": r"(?i)(?<![\w:])(?:[0-9a-f]{1,4}::?){3,7}[0-9a-f]{1,4}(?![\w:])",
    "hosts of a URL": r"(?<=://)[^/\s\"']+",
    "full host names; except registries of images and API groups, which a / follows": (
        r"(?i)(?<![\w./-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.){2,}"
        r"(?:com|net|org|io|dev|cloud|local|internal|lan|corp|home|test)\b(?![\w./-]*/)(?::\d+)?"
    ),
    "AWS host names that contain an address": r"\bip(?:-\d{1,3}){4}\b",
}
"""What is removed from any text, in addition to credentials: reason, and regular expression."""
KEPT = frozenset({"schema", "analysis", "status", "started", "ended", "severity", "direction", "unit", "name", "kind"})
"""Parts of a document that no rule changes, since readers need them."""
OPEN = frozenset({"facts", "keys", "labels"})
"""Parts of a document with names that others chose."""
TELLING = re.compile(r"(?=[\w.-]*[A-Za-z])(?=[\w.-]*[\d.-])[\w.-]{6,}")
"""A removed value that is sensitive by itself, wherever it occurs; `default` or `true` are not."""


@dataclass(frozen=True)
class Rules:
    """`drop` are patterns of names of facts, keys and labels to remove; `replace` are patterns to remove from texts."""

    drop: tuple[str, ...]
    replace: tuple[re.Pattern[str], ...]


@dataclass(frozen=True)
class OwnRules:
    """The rules of a file, in addition to the standard ones."""

    drop: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()


STANDARD = Rules(DROPPED, tuple(re.compile(pattern) for pattern in REPLACEMENTS.values()))


def read_rules(path: Path | None) -> Rules:
    """Return the standard rules with those of a YAML file: `drop` (names, `*` allowed) and `replace` (regular
    expressions).

    Raises UsageError with the reason if it is invalid.
    """
    if path is None:
        return STANDARD
    own = load_typed(path, OwnRules)
    try:
        replace = tuple(map(re.compile, own.replace))
    except re.error as error:
        raise UsageError(f"{path}: invalid regular expression {error.pattern!r}: {error}") from error
    return Rules((*STANDARD.drop, *own.drop), (*STANDARD.replace, *replace))


def scrub(document: Document, rules: Rules) -> Document:
    """Return the document (payload or history) after applying the rules; numbers and names of KPIs stay.

    Values of removed facts, such as the name of a site or the host of a server, are removed from all other texts too.
    """
    words = sorted(set(_dropped_words(document, rules)), key=len, reverse=True)
    literal = tuple(re.compile(rf"(?<![\w-]){re.escape(text)}(?![\w-])") for text in words)
    scrubbed: Document = _typed(document, Rules(rules.drop, (*literal, *rules.replace)))
    return scrubbed


def _typed(value: Any, rules: Rules) -> Any:
    """Scrub a part whose keys belong to psap.perf: they all stay."""
    if isinstance(value, dict):
        return {
            name: part if name in KEPT else _open(part, rules) if name in OPEN else _typed(part, rules)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [_typed(part, rules) for part in value]
    return _text(value, rules) if isinstance(value, str) else value


def _open(value: Any, rules: Rules) -> Any:
    """Scrub a part whose keys others chose."""
    if isinstance(value, dict):
        kept = {str(name): part for name, part in value.items() if not _is_dropped(str(name), rules)}
        return {_text(name, rules): _open(part, rules) for name, part in kept.items()}
    if isinstance(value, list):
        return [_open(part, rules) for part in value]
    return _text(value, rules) if isinstance(value, str) else value


def _text(text: str, rules: Rules) -> str:
    text = hide(text, REPLACED)
    for pattern in rules.replace:
        text = pattern.sub(REPLACED, text)
    return text


def _is_dropped(name: str, rules: Rules) -> bool:
    return any(fnmatch.fnmatchcase(name.removeprefix("setting.").lower(), pattern) for pattern in rules.drop)


def _dropped_words(value: Any, rules: Rules, *, is_open: bool = False) -> Iterator[str]:
    """Return the sensitive words of everything that is removed."""
    if isinstance(value, dict):
        for name, part in value.items():
            if is_open and _is_dropped(str(name), rules):
                yield from _words(part)
            else:
                yield from _dropped_words(part, rules, is_open=is_open or name in OPEN)
    elif isinstance(value, list):
        for part in value:
            yield from _dropped_words(part, rules, is_open=is_open)


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for part in value.values():
            yield from _words(part)
    elif isinstance(value, list):
        for part in value:
            yield from _words(part)
    elif isinstance(value, str):
        host = re.match(r"\w+://(?:[^/@\s]*@)?([^/:\s]+)", value)
        word = host[1] if host else value
        if TELLING.fullmatch(word):
            yield word
