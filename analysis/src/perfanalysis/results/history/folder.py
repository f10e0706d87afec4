"""A history as a folder: one JSON file a run, named by its content, never changed and never replaced.

The order of versions, and of texts that hold numbers: 4.9 before 4.10.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from perfanalysis.errors import UsageError
from perfanalysis.files.credentials import hide
from perfanalysis.files.documents import Document, listing, load_json, mapping, schema_problem, write_bytes
from perfanalysis.files.findings import Finding, print_findings
from perfanalysis.results.history.documents import Entry, entries_of

_PARTS = re.compile(r"\d+|[^\d.\-_+\s]+")
_WORD, _END, _NUMBER = range(3)


def version_key(value: object) -> tuple[tuple[int, int, str], ...]:
    """A key to sort by: numbers as numbers, `1.2-rc1` before `1.2` before `1.2.1`, None before all.

    The order is that of https://semver.org §11, for texts that are no semantic versions too.
    """
    if value is None:
        return ()
    parts = _PARTS.findall(str(value).removeprefix("v"))
    return (*((_NUMBER, int(part), "") if part.isdecimal() else (_WORD, 0, part) for part in parts), (_END, 0, ""))


NOT_FINITE = re.compile(rb"NaN|Infinity|[0-9][eE]\+?[0-9]{3}")
"""What may be no number that JSON has; a document with one could not be given away."""
NAME = re.compile(r"[0-9a-f]{32}\.json")


@dataclass(frozen=True)
class History:
    """The documents of a folder, one a run, oldest first; `findings` say what was left out, and why."""

    documents: tuple[Document, ...]
    findings: tuple[Finding, ...]

    def entries(self) -> tuple[Entry, ...]:
        """All recordings of all runs."""
        return tuple(entry for document in self.documents for entry in entries_of(document))


def content_name(content: bytes) -> str:
    """The name of the file that holds *content*."""
    return f"{hashlib.sha256(content).hexdigest()[:32]}.json"


def canonical(document: Document) -> bytes:
    """A document's bytes, without credentials: the same document has the same, whatever the order of its keys was."""
    return hide(json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


def add(folder: Path, document: Document) -> tuple[Path, bool]:
    """Keep a document; returns where, and whether it is new. Raises UsageError when it cannot be written."""
    content = canonical(document)
    path = folder / content_name(content)
    if path.exists():
        return path, False
    try:
        write_bytes(path, content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    return path, True


def load(folder: Path) -> History:
    """Read a history. Of several documents of one run, the one of the newest analysis counts.

    Raises UsageError when there is no such folder. A file that is no document of a history, or that does not have the
    content that its name says, is left out and found.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder of a history; `perfanalysis history add RUN --into {folder}` makes it")
    findings: list[Finding] = []
    runs: defaultdict[str, list[tuple[Path, Document]]] = defaultdict(list)
    for path in sorted(folder.iterdir()):
        if not NAME.fullmatch(path.name):
            continue
        document, problem = _read(path)
        if document is None:
            findings.append(Finding("warning", path.name, problem))
        else:
            runs[str(document["run"])].append((path, document))
    kept = []
    for run, found in runs.items():
        newest = max(found, key=lambda each: _rank(*each))
        kept.append(newest[1])
        findings += [
            Finding("note", path.name, f"{newest[0].name} is of the same run, {run}, and a newer analysis")
            for path, _ in found
            if path != newest[0]
        ]
    kept.sort(key=lambda document: (str(document.get("started") or ""), str(document["run"])))
    return History(tuple(kept), tuple(findings))


def documents_of(folder: Path) -> Iterator[dict[str, Any]]:
    """The documents of a history; what was left out, and that there is none, is told on stderr."""
    history = load(folder)
    print_findings(history.findings)
    if not history.documents:
        click.echo(f"note: {folder} holds no run of a history", err=True)
    yield from history.documents


def run_named(word: str, documents: Iterable[Document], where: str) -> Document:
    """The document of the run with that id, or whose id alone begins so; UsageError when there is none."""
    runs = {str(document["run"]): document for document in documents}
    found = [name for name in runs if name == word] or [name for name in runs if name.startswith(word)]
    if not found:
        raise UsageError(f"{where} has no run {word}; `perfanalysis history list` names those that it has")
    if len(found) > 1:
        raise UsageError(f"{word} is the beginning of {len(found)} runs in {where}: {', '.join(found)}")
    return runs[found[0]]


def merge(source: Path, target: Path) -> int:
    """Copy what *target* has not; returns how many. Raises UsageError when *source* is no history."""
    return sum(add(target, document)[1] for document in load(source).documents)


def _read(path: Path) -> tuple[Document | None, str]:
    try:
        content = path.read_bytes()
        document = load_json(content)
        if NOT_FINITE.search(content):
            canonical(document)
    except (OSError, ValueError) as error:
        return None, f"left out: it cannot be read: {error}"
    problem = schema_problem(mapping(document).get("schema"), "history")
    if problem or "run" not in document:
        return None, f"left out: {problem or 'it names no run'}"
    if content_name(content) != path.name:
        return None, "left out: it was changed after it was written; a file of a history is never changed"
    return document, ""


def _rank(path: Path, document: Document) -> tuple[object, ...]:
    """Of a newer analysis, with more KPIs, with more facts: the own copy before the one that was scrubbed."""
    kpis = sum(len(listing(mapping(each).get("kpis"))) for each in listing(document.get("recordings")))
    return version_key(document.get("analysis")), kpis, len(mapping(document.get("facts"))), path.name
