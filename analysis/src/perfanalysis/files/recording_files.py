"""The files of one recording for its parser: only declared files; damage becomes a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from perfanalysis.errors import UsageError
from perfanalysis.files.bounded import LARGEST_LIST, content
from perfanalysis.files.discovery import Place
from perfanalysis.files.documents import Document, listing, load_json, load_yaml_documents, read_document
from perfanalysis.files.findings import Finding, Severity
from perfanalysis.files.json_lines import accept, read_json_lines
from perfanalysis.files.tables import TableSpec

if TYPE_CHECKING:
    import pandas as pd


PATTERN = frozenset("*?[")
TablesType = TypeVar("TablesType")


def matches(name: str, files: tuple[str, ...]) -> bool:
    """Return whether a name below a recording's directory is declared, or matches a declared pattern."""
    path = PurePosixPath(name)
    return any(
        name == one or (_is_pattern(one) and _parts_match(path.parts, PurePosixPath(one).parts)) for one in files
    )


def _parts_match(parts: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    if not patterns:
        return not parts
    if patterns[0] == "**":
        return any(_parts_match(parts[skipped:], patterns[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and PurePosixPath(parts[0]).match(patterns[0]) and _parts_match(parts[1:], patterns[1:])


def _is_pattern(name: str) -> bool:
    return bool(PATTERN & set(name))


def named_files(files: tuple[str, ...], directory: Path) -> tuple[str, ...]:
    """Return the declared files, each once and sorted: plain names unchanged, patterns as every matching file."""
    found: set[str] = set()
    for name in files:
        if _is_pattern(name):
            found.update(path.relative_to(directory).as_posix() for path in directory.glob(name) if path.is_file())
        else:
            found.add(name)
    return tuple(sorted(found))


class RecordingFiles:
    """The files of one recording. If `files` is given, only those may be read: the cache depends on no others."""

    def __init__(self, place: Place, files: tuple[str, ...] | None = None) -> None:
        self.place = place
        self.files = files
        self.findings: tuple[Finding, ...] = ()

    def _where(self, name: str) -> str:
        return f"{self.place.relative}/{name}"

    def find(self, severity: Severity, name: str, text: str) -> None:
        """Add a finding about a file."""
        self.findings += (Finding(severity, self._where(name), text),)

    def path(self, name: str) -> Path:
        """Return the path of a declared file, whether it exists or not. Raises UsageError if it is not declared."""
        if not self.declares(name):
            raise self.not_declared(name)
        return self.place.directory / name

    def declares(self, name: str) -> bool:
        """Return whether a name is declared; check names that come from the data."""
        return self.files is None or matches(name, self.files)

    def not_declared(self, name: str) -> UsageError:
        """Return the error for a parser that reads an undeclared file."""
        declared = ", ".join(self.files or ())
        return UsageError(
            f"{self._where(name)}: the parser reads this file but declares only {declared}; add it to the "
            "declared files"
        )

    def exists(self, name: str) -> bool:
        """Return whether a declared file exists."""
        return self.path(name).is_file()

    def names(self, pattern: str) -> tuple[str, ...]:
        """Return the files that match a declared pattern, sorted by name. Raises UsageError if it is not declared."""
        if self.files is not None and pattern not in self.files:
            raise self.not_declared(pattern)
        return named_files((pattern,), self.place.directory)

    def text(self, name: str, *, optional: bool = False) -> str | None:
        """Return a file's text, with bytes that are not UTF-8 replaced; None and a finding if it cannot be read."""
        read: str | None = self._read(
            name, lambda path: content(path, LARGEST_LIST).decode("utf-8", "replace"), optional=optional
        )
        return read

    def lines(self, name: str, *, optional: bool = False) -> Iterator[str]:
        """Yield a file's lines without their ends; none if it cannot be read."""
        yield from (self.text(name, optional=optional) or "").splitlines()

    def json(self, name: str, *, optional: bool = False) -> Any:
        """Return a JSON file's value; None and a finding if it cannot be read. `optional`: none if missing."""
        return self._read(name, lambda path: load_json(content(path, LARGEST_LIST)), optional=optional)

    def _read(self, name: str, read: Callable[[Path], Any], *, optional: bool) -> Any:
        try:
            return read(self.path(name))
        except FileNotFoundError:
            if not optional:
                self.find("warning", name, "the file is missing")
        except (OSError, ValueError) as error:
            self.find("error", name, f"the file cannot be read: {error}")
        return None

    def records(self, name: str, *, optional: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the mappings in a JSON or YAML file, or in all files that match a declared pattern.

        A file is a list, a mapping with the list `items`, one mapping per line, or the documents of a YAML file.
        Entries that are not mappings, and lines that are not JSON, are counted in a finding.
        """
        for one in self.names(name) if _is_pattern(name) else (name,):
            bad = 0
            for item in self._items(one, optional=optional):
                if isinstance(item, dict):
                    yield item
                else:
                    bad += 1
            if bad:
                self.find("error", one, f"{bad} entries are not JSON objects and were left out")

    def _items(self, name: str, *, optional: bool) -> Iterator[object]:
        if name.endswith((".jsonl", ".ndjson")):
            yield from (_line(line) for line in self.lines(name, optional=optional) if line.strip())
            return
        if name.endswith((".yml", ".yaml")):
            yield from self._read(name, _documents, optional=optional) or ()
            return
        given = self.json(name, optional=optional)
        if isinstance(given, dict) and isinstance(given.get("items"), list):
            given = given["items"]
        if isinstance(given, list):
            yield from given
        elif given is not None:
            yield given

    def json_lines(self, name: str, spec: TableSpec, *, optional: bool = False) -> pd.DataFrame:
        """Return a JSON-lines file as the declared table; an `optional` file may be missing."""
        path = self.path(name)
        if optional and not path.exists():
            return spec.empty()
        frame, findings = read_json_lines(path, spec, self._where(name))
        self.findings += findings
        return frame

    def document(self, name: str, kind: str) -> Document:
        """Return a document; empty if it cannot be read."""
        document, findings = read_document(self.path(name), kind, self._where(name))
        self.findings += findings
        return document or {}

    def rows(self, name: str, kind: str, key: str, spec: TableSpec) -> pd.DataFrame:
        """Return the list under one key of a document as the declared table; records of other types are counted."""
        return self.table(listing(self.document(name, kind).get(key)), spec, name, f"entries of {key}")

    def table(self, given: list[Any], spec: TableSpec, name: str, what: str) -> pd.DataFrame:
        """Return records as the declared table; records of other types are left out and counted in a finding."""

        records = [record for record in (accept(item, spec) for item in given) if record is not None]
        if len(records) < len(given):
            count = len(given) - len(records)
            self.find("error", name, f"{count} {what} do not have the declared types and were left out")
        return spec.of_rows(records)


@dataclass(frozen=True)
class TableSource(Generic[TablesType]):
    """How to make tables. Increase `version` whenever `parse` returns other tables for the same files.

    `files` are names below the recording's directory, or patterns (`*`, `?`, `[…]`, `**/`): all files that `parse` may
    read. It must read them through RecordingFiles: the cache does not see changes of other files.
    """

    name: str
    version: int
    files: tuple[str, ...]
    tables: type[TablesType]
    parse: Callable[[RecordingFiles], TablesType]
    code: str = field(default="", kw_only=True)
    """A hash of the code of a parser in a separate file: changed code is another parser."""


def _documents(path: Path) -> list[Any]:
    return load_yaml_documents(content(path, LARGEST_LIST).decode("utf-8", "replace"))


def _line(line: str) -> object:
    try:
        return load_json(line.encode())
    except ValueError:
        return None
