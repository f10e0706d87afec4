"""A history as a folder: one JSON file per run, named after its content, never changed and never replaced.

The order of versions, and of texts that contain numbers: 4.9 before 4.10.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
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
    """Return a key to sort by: numbers as numbers, `1.2-rc1` before `1.2` before `1.2.1`, None before all.

    The order follows https://semver.org §11, also for texts that are not semantic versions.
    """
    if value is None:
        return ()
    parts = _PARTS.findall(str(value).removeprefix("v"))
    return (*((_NUMBER, int(part), "") if part.isdecimal() else (_WORD, 0, part) for part in parts), (_END, 0, ""))


NOT_FINITE = re.compile(rb"NaN|Infinity|[0-9][eE]\+?[0-9]{3}")
"""Reject numbers that JSON does not have; a document with one could not be shared."""
NAME = re.compile(r"[0-9a-f]{32}\.json")


@dataclass(frozen=True)
class History:
    """The documents of a folder, one per run, oldest first; `findings` state what was left out, and why."""

    documents: tuple[Document, ...]
    findings: tuple[Finding, ...]

    def entries(self) -> tuple[Entry, ...]:
        """All recordings of all runs."""
        return tuple(entry for document in self.documents for entry in entries_of(document))


def content_name(content: bytes) -> str:
    """Return the name of the file for *content*."""
    return f"{hashlib.sha256(content).hexdigest()[:32]}.json"


def canonical(document: Document) -> bytes:
    """Return a document's bytes, without credentials; they do not depend on the order of its keys."""
    return hide(json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


def add(folder: Path, document: Document) -> tuple[Path, bool]:
    """Store a document and return its path, and whether it is new. Raises UsageError if it cannot be written."""
    content = canonical(document)
    path = folder / content_name(content)
    if path.exists():
        return path, False
    try:
        write_bytes(path, content)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return path, True


def load(folder: Path, only: Collection[str] | None = None) -> History:
    """Read a history. Of several documents of one run, the document of the newest analysis is used.

    Args:
        only: The names of the files to read; None for all.

    Raises UsageError if the folder does not exist. A file that is not a document of a history, or whose content does
    not match its name, is left out with a finding.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a history; create it with `perfanalysis history add RUN --into {folder}`")
    findings: list[Finding] = []
    found: list[tuple[str, Document]] = []
    for path in sorted(folder.iterdir()):
        if not NAME.fullmatch(path.name) or (only is not None and path.name not in only):
            continue
        document, problem = _read(path)
        if document is None:
            findings.append(Finding("warning", path.name, problem))
        else:
            found.append((path.name, document))
    return history_of(found, findings)


def history_of(found: Iterable[tuple[str, Document]], findings: Iterable[Finding] = ()) -> History:
    """Return a history of documents with their names; of several documents of one run, the newest analysis is used."""
    runs: defaultdict[str, list[tuple[str, Document]]] = defaultdict(list)
    for name, document in found:
        runs[str(document["run"])].append((name, document))
    kept, left_out = [], list(findings)
    for run, copies in runs.items():
        newest = max(copies, key=lambda each: _rank(*each))
        kept.append(newest[1])
        left_out += [
            Finding("note", name, f"{newest[0]} has the same run, {run}, analysed by a newer version")
            for name, _ in copies
            if name != newest[0]
        ]
    kept.sort(key=lambda document: (str(document.get("started") or ""), str(document["run"])))
    return History(tuple(kept), tuple(left_out))


def documents_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Return the documents of a history; print on stderr what was left out, or that it is empty."""
    history = load(folder)
    print_findings(history.findings)
    if not history.documents:
        click.echo(f"note: {folder} contains no run", err=True)
    yield from history.documents


def run_named(word: str, documents: Iterable[Document], where: str) -> Document:
    """Return the document of the run with that id or a unique beginning of it. Raises UsageError if no run matches."""
    runs = {str(document["run"]): document for document in documents}
    found = [name for name in runs if name == word] or [name for name in runs if name.startswith(word)]
    if not found:
        raise UsageError(f"{where} has no run {word}; list its runs with `perfanalysis history list`")
    if len(found) > 1:
        raise UsageError(f"{word} is the beginning of {len(found)} runs in {where}: {', '.join(found)}")
    return runs[found[0]]


def merge(source: Path, target: Path) -> int:
    """Copy the documents that *target* does not have and return how many. Raises UsageError if *source* is not a
    history.
    """
    return sum(add(target, document)[1] for document in load(source).documents)


def _read(path: Path) -> tuple[Document | None, str]:
    try:
        content = path.read_bytes()
        document = load_json(content)
        if NOT_FINITE.search(content):
            canonical(document)
    except (OSError, ValueError) as error:
        return None, f"left out: cannot read the file: {error}"
    problem = schema_problem(mapping(document).get("schema"), "history")
    if problem or "run" not in document:
        return None, f"left out: {problem or 'it names no run'}"
    if content_name(content) != path.name:
        return None, "left out: the file was changed after it was written; files of a history must not change"
    return document, ""


def _rank(name: str, document: Document) -> tuple[object, ...]:
    """Order documents of one run: a newer analysis, more KPIs, more facts; the original before its scrubbed copy."""
    kpis = sum(len(listing(mapping(each).get("kpis"))) for each in listing(document.get("recordings")))
    return version_key(document.get("analysis")), kpis, len(mapping(document.get("facts"))), name
