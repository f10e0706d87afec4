"""Hide values of secrets, and search for them in the files of a run."""

from __future__ import annotations

import base64
import json
import os
import re
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import HIDDEN

# environment variables, which every program of a run inherits: the API server's (set by AWX), the history's
CREDENTIALS = ("K8S_AUTH_API_KEY", "K8S_AUTH_PASSWORD", "PERF_OPENSEARCH_PASSWORD")
# Shorter values occur in any text by chance: replacing every "a" would hide nothing and damage all texts.
SHORTEST = 4
# the same for a part of a secret
_LONG = 8
_SECRET_KEY = re.compile(r"[\w.-]*(?:auth|key|passw(?:or)?d|secret|token)", re.IGNORECASE)
# a line of a settings file, such as the AWS CLI's, and an address in git's format
_SETTING = re.compile(rf"\s*{_SECRET_KEY.pattern}\s*[=:]\s*\"?(.+?)\"?\s*", re.IGNORECASE)
_ADDRESS = re.compile(r"\w+://[^/\s:@]*:([^/\s@]+)@")
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret's value found in a file; ``form`` is ``text`` or ``base64``."""

    path: Path
    line: int
    form: str


def credentials_of_environment() -> list[str]:
    """Return the secrets that a run has from its environment, and not from a setting."""
    return [os.environ[name] for name in CREDENTIALS if len(os.environ.get(name, "")) >= SHORTEST]


class Redactor:
    """Replaces every known secret and its base64 in any structure."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        """Hide *values*, which are resolved secrets; `add` adds more."""
        self._forms: list[str] = []
        self._values: list[str] = []
        for value in values:
            self.add(value)

    def add(self, value: str) -> None:
        """Hide *value* from now on."""
        if value in self._values or len(value) < SHORTEST:
            return
        self._values.append(value)
        forms = {*self._forms, *(form for form, _kind in forms_of(value))}
        # the longest first: a secret may contain another
        self._forms = sorted(forms, key=len, reverse=True)

    def redact(self, item: Any) -> Any:
        """Return *item* with every secret replaced in texts, keys, lists and dictionaries; anything else unchanged."""
        if not self._forms:
            return item
        if isinstance(item, str):
            return self._text(item)
        if isinstance(item, Mapping):
            return {self.redact(key): self.redact(value) for key, value in item.items()}
        if isinstance(item, list):
            return [self.redact(value) for value in item]
        if isinstance(item, tuple):
            return tuple(self.redact(value) for value in item)
        return item

    def _text(self, text: str) -> str:
        for form in self._forms:
            if form in text:
                text = text.replace(form, HIDDEN)
        return text


def forms_of(value: str) -> tuple[tuple[str, str], ...]:
    """Return the forms that *value* may have in a file, each with its kind, ``text`` or ``base64``.

    As text: unchanged, or escaped for JSON or an address. In base64: alone, with a line end, or within other text. Each
    line of several is secret, and in documents such as pull secrets the values of secret keys.
    """
    texts: set[str] = set()
    encoded: set[str] = set()
    for part in {value, *_lines(value), *_credentials_in(value)}:
        escaped = part.encode("unicode_escape").decode().replace('"', '\\"')
        texts |= {part, escaped, urllib.parse.quote(part, safe="")}
        encoded |= {*(_base64(part, end).rstrip("=") for end in ("", "\n")), *_amid(part)}
    return (*((text, "text") for text in sorted(texts)), *((text, "base64") for text in sorted(encoded)))


def _lines(value: str) -> Iterator[str]:
    return (line for line in value.splitlines() if len(line) >= 2 * _LONG)


def _credentials_in(value: str) -> Iterator[str]:
    """Yield the values of secret keys in a document or a settings file, and passwords of an address or of ``auth``."""
    yield from (text for text in (*_of_document(value), *_of_lines(value)) if len(text) >= _LONG)


def _of_document(value: str) -> Iterator[str]:
    try:
        waiting = [json.loads(value)] if value.lstrip().startswith("{") else []
    except (ValueError, RecursionError):
        return
    while waiting:
        for key, item in waiting.pop().items():
            if isinstance(item, dict):
                waiting.append(item)
            elif isinstance(item, str) and _SECRET_KEY.fullmatch(key):
                yield from (item, _password(item))


def _of_lines(value: str) -> Iterator[str]:
    for line in value.splitlines():
        if setting := _SETTING.fullmatch(line):
            yield setting[1]
        if address := _ADDRESS.search(line):
            yield from (address[1], urllib.parse.unquote(address[1]))


def _password(auth: str) -> str:
    try:
        return base64.b64decode(auth, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _base64(value: str, end: str) -> str:
    return base64.b64encode((value + end).encode()).decode()


def _amid(value: str) -> Iterator[str]:
    """Yield the characters of a longer text's base64 that depend only on *value*, for each offset of *value* in it."""
    content = value.encode()
    for before, undecided in enumerate((0, 2, 3)):
        encoded = base64.b64encode(bytes(before) + content).decode()
        decided = encoded[undecided : (before + len(content)) * 8 // 6]
        if len(decided) >= _LONG:
            yield decided


def scan_directory(path: Path, values: Iterable[str]) -> list[Hit]:
    """Return the files below *path* that contain one of *values*, once for each form, with its first line."""
    needles = _needles(form for value in values if len(value) >= SHORTEST for form in forms_of(value))
    if not needles:
        return []
    return [hit for file in sorted(path.rglob("*")) if file.is_file() for hit in _scan_file(file, needles)]


def _needles(forms: Iterable[tuple[str, str]]) -> list[tuple[bytes, str]]:
    """Return the forms to search for, without those that contain another form."""
    kept: dict[str, str] = {}
    for form, kind in sorted(forms, key=lambda each: len(each[0])):
        if not any(shorter in form for shorter in kept):
            kept[form] = kind
    return [(form.encode(), kind) for form, kind in kept.items()]


def _scan_file(path: Path, needles: list[tuple[bytes, str]]) -> Iterator[Hit]:
    """Yield the hits of a file, read in chunks that overlap by the longest needle: a log may exceed the memory."""
    overlap = max(len(needle) for needle, _kind in needles) - 1
    found: set[str] = set()
    tail, lines_before = b"", 0
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            window = tail + chunk
            for needle, kind in needles:
                position = window.find(needle)
                if position >= 0 and kind not in found:
                    found.add(kind)
                    yield Hit(path=path, line=lines_before + window.count(b"\n", 0, position) + 1, form=kind)
            tail = window[-overlap:] if overlap else b""
            lines_before += window.count(b"\n") - tail.count(b"\n")
