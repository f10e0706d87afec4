"""Parsed tables as Parquet files, with a document that identifies the contents they were made from; never a pickle.

The tables that a report writes for its readers are the cache. `<kind>.parsed.json` in their folder has every input file
with the hash of its contents, the parser with its version and declared columns, the hash of each table's file, and the
parser's findings. The tables are used if all of it is unchanged: touching a file changes nothing. A changed byte, an
added, removed or renamed file, another parser, and damage to the tables or the document cause a new parse.

Temporary folders are for their owner only and are removed at the end; after a kill -9, the next process removes them.
The name of a folder contains its process, so that a folder in use is never removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Generic, cast

import msgspec

from perfanalysis.files.discovery import Place
from perfanalysis.files.documents import Document, load_json, mapping, write_bytes, write_json
from perfanalysis.files.findings import Finding
from perfanalysis.files.recording_files import RecordingFiles, TableSource, TablesType, named_files
from perfanalysis.files.tables import is_arrow, parquet_bytes, read_table, specs_of

PREFIX = "perfanalysis-"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Create a folder for temporary tables; remove those of killed processes first."""
    remove_leftovers(PREFIX)
    with owned_folder(PREFIX) as path:
        yield path


@contextlib.contextmanager
def owned_folder(prefix: str) -> Iterator[Path]:
    """Create a temporary folder (0700) and remove it when the block ends."""
    pid = os.getpid()
    path = Path(tempfile.mkdtemp(prefix=f"{prefix}{pid}-{start_ticks(pid)}-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def remove_leftovers(prefix: str, folder: Path | None = None) -> list[Path]:
    """Remove this user's folders with that prefix whose process has ended, and return them."""
    named = re.compile(rf"{re.escape(prefix)}(\d+)-(\d+)-\w+")
    removed = []
    for path in sorted((folder or Path(tempfile.gettempdir())).glob(f"{prefix}*")):
        name = named.fullmatch(path.name)
        if name and _is_mine(path) and start_ticks(int(name[1])) != int(name[2]):
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
    return removed


def _is_mine(path: Path) -> bool:
    try:
        return path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid()
    except FileNotFoundError:
        return False


def start_ticks(pid: int) -> int:
    """Return when a process began, in clock ticks since boot; 0 if it does not exist.

    Together with the pid, this identifies a process permanently.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[19])


SCHEMA = "psap.perf/tables/1"
MISSING, UNREADABLE = "missing", "unreadable"


@dataclass(frozen=True)
class Input:
    """A declared file: the hash of its contents (or MISSING, UNREADABLE), its size, and properties that reveal a
    rewrite.
    """

    hash: str
    size: int
    stamps: tuple[int, ...] = ()


@dataclass(frozen=True)
class State:
    """The stored tables of a recording. `reason` states why they must be parsed again; empty if they are valid."""

    reason: str
    inputs: Mapping[str, Input]
    findings: tuple[Finding, ...] = ()
    tables: Mapping[str, bytes] | None = None


def content_hash(content: bytes) -> str:
    """Return the hash that identifies contents."""
    return hashlib.blake2b(content, digest_size=20).hexdigest()


def tables_folder(output: Path, place: Place) -> Path:
    """Return where the tables of a recording are stored below a report's folder."""
    return output / "tables" / place.name


def load_tables(
    workload: TableSource[TablesType], source: RecordingFiles, folder: Path
) -> tuple[TablesType, tuple[Finding, ...]]:
    """Return the recording's tables: from `folder` if they were made from the same contents, else parsed and written
    there.
    """
    return Cache(workload, source.place, folder).load()


class Cache(Generic[TablesType]):
    """The stored tables of one recording."""

    def __init__(self, workload: TableSource[TablesType], place: Place, folder: Path) -> None:
        self.workload = workload
        self.place = place
        self.folder = folder
        self.path = folder / f"{workload.name}.parsed.json"
        self.specs = specs_of(workload.tables)

    def load(self) -> tuple[TablesType, tuple[Finding, ...]]:
        """Return the tables, stored or parsed again."""
        state = self.state()
        if state.tables is not None:
            try:
                return self.workload.tables(**self._frames(state.tables)), state.findings
            except Exception:  # if stored tables are damaged in any way, the recorded data is still there
                state = State("damaged", state.inputs, self._damaged(self.folder))
        tables, findings = self.renew(state)
        return as_frames(tables), findings

    def state(self) -> State:
        """Return the stored state with the bytes of its files; it only compares hashes, so this is quick."""
        inputs = inputs_of(self.workload, self.place.directory)
        if not self.path.exists():
            return State("not parsed yet", inputs)
        kept = self._document()
        if kept is None:
            return State("damaged", inputs, self._damaged(self.path))
        reason = self._changed(kept, inputs)
        if reason:
            return State(reason, inputs)
        tables = {}
        for name in self.specs:
            path = self.folder / f"{name}.parquet"
            content = _read(path)
            if content is None or content_hash(content) != mapping(kept.get("tables")).get(name):
                return State("damaged", inputs, self._damaged(path))
            tables[name] = content
        findings = _findings(kept, self.place)
        if findings is None:
            return State("damaged", inputs, self._damaged(self.path))
        return State("", inputs, findings, tables)

    def renew(self, state: State) -> tuple[TablesType, tuple[Finding, ...]]:
        """Parse, and store the tables unless an input changed meanwhile; they may still be Arrow's."""
        source = RecordingFiles(self.place, self.workload.files)
        tables = self.workload.parse(source)
        _release_memory()
        self._keep(tables, state.inputs, source.findings)
        return tables, state.findings + source.findings

    def _keep(self, tables: TablesType, inputs: Mapping[str, Input], findings: tuple[Finding, ...]) -> None:
        # the document never describes tables of another parse, not even temporarily
        self.path.unlink(missing_ok=True)
        hashes = {}
        for name, spec in self.specs.items():
            content = parquet_bytes(getattr(tables, name), spec)
            hashes[name] = content_hash(content)
            write_bytes(self.folder / f"{name}.parquet", content)
        if inputs != inputs_of(self.workload, self.place.directory):
            return
        document: Document = {
            "schema": SCHEMA,
            "parser": self._parser(),
            "inputs": {name: one.hash for name, one in inputs.items()},
            "tables": hashes,
            "findings": [asdict(_below(finding, self.place)) for finding in findings],
        }
        document["hash"] = own_hash(document)
        write_json(self.path, document)

    def _parser(self) -> dict[str, Any]:
        """Return what determines the tables in addition to the inputs."""
        workload = self.workload
        columns = {name: spec.fingerprint() for name, spec in self.specs.items()}
        return {"name": workload.name, "version": workload.version, "code": workload.code, "columns": columns}

    def _document(self) -> Document | None:
        """Return the document as it was written; None if it is of another recording or damaged."""
        try:
            loaded = load_json(self.path.read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(loaded, dict) or loaded.get("schema") != SCHEMA:
            return None
        return loaded if loaded.pop("hash", None) == own_hash(loaded) else None

    def _changed(self, kept: Document, inputs: Mapping[str, Input]) -> str:
        """Return which file or property changed; empty if none did."""
        if kept.get("parser") != self._parser():
            return "the parser changed"
        before, now = mapping(kept.get("inputs")), {name: one.hash for name, one in inputs.items()}
        names = [name for name in sorted({*before, *now}) if before.get(name, MISSING) != now.get(name, MISSING)]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"{names[0]}{more} changed" if names else ""

    def _frames(self, tables: Mapping[str, bytes]) -> dict[str, Any]:
        return {name: read_table(content, self.specs[name]) for name, content in tables.items()}

    def _damaged(self, path: Path) -> tuple[Finding, ...]:
        where = "/".join(("tables", *path.relative_to(self.folder.parent).parts))
        return (Finding("note", where, "damaged and parsed again"),)


def as_frames(tables: TablesType) -> TablesType:
    """Return the same tables, Arrow's converted to pandas'."""
    given = cast(Any, tables)
    made = {
        name: spec.conform(getattr(tables, name).to_pandas())
        for name, spec in specs_of(type(tables)).items()
        if is_arrow(getattr(tables, name))
    }
    return cast(TablesType, replace(given, **made)) if made else tables


def inputs_of(workload: TableSource[Any], directory: Path) -> dict[str, Input]:
    """Return every declared file with the hash of its contents: plain names even if missing, patterns as they match."""
    return {name: _input(directory / name) for name in named_files(workload.files, directory)}


def _input(path: Path) -> Input:
    try:
        if not path.is_file():
            return Input(UNREADABLE if path.exists() else MISSING, 0)
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=20))
        status = path.stat()
    except FileNotFoundError:
        return Input(MISSING, 0)
    except OSError as error:
        return Input(f"{UNREADABLE}: {error.strerror}", 0)
    return Input(digest.hexdigest(), status.st_size, (status.st_mtime_ns, status.st_ctime_ns, status.st_ino))


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError:
        return None


def own_hash(document: Document) -> str:
    """Return the hash of a document's contents."""
    return content_hash(json.dumps(document, sort_keys=True).encode())


def _below(finding: Finding, place: Place) -> Finding:
    """Return a finding with a path below the recording, which is valid wherever the recording is."""
    return replace(finding, where=finding.where.removeprefix(f"{place.relative}/"))


def _findings(kept: Document, place: Place) -> tuple[Finding, ...] | None:
    """Return the parser's findings as findings of the run; None if the document has none in the expected form."""
    try:
        found = msgspec.convert(kept.get("findings"), tuple[Finding, ...])
    except msgspec.ValidationError:
        return None
    return tuple(replace(finding, where=f"{place.relative}/{finding.where}") for finding in found)


def _release_memory() -> None:
    """Free the memory of reading: Arrow keeps it otherwise, in addition to the memory of the analysis."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
