"""Parsed tables as Parquet files, beside a document that says of what contents they were made; never a pickle.

The tables that a report writes for its readers are the cache. `<kind>.parsed.json` in their folder names every input
file with the hash of its contents, the parser with its version and declared columns, the hash of each table's file, and
what the parser found. They are used when all of it is as it was: touching a file changes nothing; one byte changed, a
file more, less or renamed, or another parser makes the tables anew, and so does any damage to them or the document.

Temporary folders: for their owner only, gone at the end, and after a kill -9 removed by the next one.

A folder's name carries the process that made it, so that nobody takes one that is in use.
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
    """A folder for tables that nobody keeps; those of killed processes are removed first."""
    remove_leftovers(PREFIX)
    with owned_folder(PREFIX) as path:
        yield path


@contextlib.contextmanager
def owned_folder(prefix: str) -> Iterator[Path]:
    """Make a temporary folder (0700) and remove it when the block ends."""
    pid = os.getpid()
    path = Path(tempfile.mkdtemp(prefix=f"{prefix}{pid}-{start_ticks(pid)}-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def remove_leftovers(prefix: str, folder: Path | None = None) -> list[Path]:
    """Remove this user's folders of that prefix whose maker is dead, and return them."""
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
    """When a process began, in clock ticks since boot; 0 when there is no such process.

    Together with the pid this names a process for good.
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
    """A declared file: the hash of its contents (or MISSING, UNREADABLE), its size, and what tells a rewritten one."""

    hash: str
    size: int
    stamps: tuple[int, ...] = ()


@dataclass(frozen=True)
class State:
    """What is kept of a recording. `reason` says why tables must be made anew; empty when they need not."""

    reason: str
    inputs: Mapping[str, Input]
    findings: tuple[Finding, ...] = ()
    tables: Mapping[str, bytes] | None = None


def content_hash(content: bytes) -> str:
    """The hash by which contents are known."""
    return hashlib.blake2b(content, digest_size=20).hexdigest()


def tables_folder(output: Path, place: Place) -> Path:
    """Where the tables of a recording are kept below a report's folder."""
    return output / "tables" / place.name


def load_tables(
    workload: TableSource[TablesType], source: RecordingFiles, folder: Path
) -> tuple[TablesType, tuple[Finding, ...]]:
    """The recording's tables: from `folder` when made from the same contents, else parsed and written there."""
    return Cache(workload, source.place, folder).load()


class Cache(Generic[TablesType]):
    """The kept tables of one recording."""

    def __init__(self, workload: TableSource[TablesType], place: Place, folder: Path) -> None:
        self.workload = workload
        self.place = place
        self.folder = folder
        self.path = folder / f"{workload.name}.parsed.json"
        self.specs = specs_of(workload.tables)

    def load(self) -> tuple[TablesType, tuple[Finding, ...]]:
        """The tables, from the folder or made anew."""
        state = self.state()
        if state.tables is not None:
            try:
                return self.workload.tables(**self._frames(state.tables)), state.findings
            except Exception:  # whatever is wrong with kept tables, the recorded data is there
                state = State("damaged", state.inputs, self._damaged(self.folder))
        tables, findings = self.renew(state)
        return as_frames(tables), findings

    def state(self) -> State:
        """What is kept, with the bytes of its files; only hashes are compared, so this is quick."""
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
        """Parse, and keep the tables unless an input changed meanwhile; they may be Arrow's still."""
        source = RecordingFiles(self.place, self.workload.files)
        tables = self.workload.parse(source)
        _release_memory()
        self._keep(tables, state.inputs, source.findings)
        return tables, state.findings + source.findings

    def _keep(self, tables: TablesType, inputs: Mapping[str, Input], findings: tuple[Finding, ...]) -> None:
        # no document stands beside tables that are not its own, not even for a moment
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
        """What makes the tables what they are beside the inputs."""
        workload = self.workload
        columns = {name: spec.fingerprint() for name, spec in self.specs.items()}
        return {"name": workload.name, "version": workload.version, "code": workload.code, "columns": columns}

    def _document(self) -> Document | None:
        """The document as it was written; None when it is another or damaged."""
        try:
            loaded = load_json(self.path.read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(loaded, dict) or loaded.get("schema") != SCHEMA:
            return None
        return loaded if loaded.pop("hash", None) == own_hash(loaded) else None

    def _changed(self, kept: Document, inputs: Mapping[str, Input]) -> str:
        """Which file, or what else, is not as it was; empty when all is."""
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
        return (Finding("note", where, "damaged; it was made anew"),)


def as_frames(tables: TablesType) -> TablesType:
    """The same tables, Arrow's turned into pandas'."""
    given = cast(Any, tables)
    made = {
        name: spec.conform(getattr(tables, name).to_pandas())
        for name, spec in specs_of(type(tables)).items()
        if is_arrow(getattr(tables, name))
    }
    return cast(TablesType, replace(given, **made)) if made else tables


def inputs_of(workload: TableSource[Any], directory: Path) -> dict[str, Input]:
    """Every declared file with its contents' hash: plain names even if missing, patterns as they match."""
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
    """The hash of a document's contents."""
    return content_hash(json.dumps(document, sort_keys=True).encode())


def _below(finding: Finding, place: Place) -> Finding:
    """A finding with a path below the recording, so that it holds wherever the recording is found from."""
    return replace(finding, where=finding.where.removeprefix(f"{place.relative}/"))


def _findings(kept: Document, place: Place) -> tuple[Finding, ...] | None:
    """What the parser found, as findings of the run; None when the document says nothing of the kind."""
    try:
        found = msgspec.convert(kept.get("findings"), tuple[Finding, ...])
    except msgspec.ValidationError:
        return None
    return tuple(replace(finding, where=f"{place.relative}/{finding.where}") for finding in found)


def _release_memory() -> None:
    """Give back what reading needed: Arrow keeps it, and it would add to whatever the analysis needs."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
