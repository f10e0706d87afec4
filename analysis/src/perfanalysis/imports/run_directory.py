"""Write the recordings of another tool as a run directory, so that all commands accept it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import Document, iso, write_bytes, write_json, write_text
from perfanalysis.files.findings import Finding
from perfanalysis.files.runs_folder import runs_folder


@dataclass(frozen=True)
class Setting:
    """A setting of the test. Runs are compared only if their `key` settings are equal."""

    value: Any
    key: bool = True


@dataclass(frozen=True)
class Recording:
    """One recording: the files it is read from, by name, each with its contents or the file to copy.

    With `cell`, its number and values, it is a cell of a matrix. Times are seconds since the epoch, None if unknown.
    """

    name: str
    files: Mapping[str, Path | bytes]
    cell: tuple[int, Mapping[str, Any]] | None = None
    started_s: float | None = None
    ended_s: float | None = None
    error: str | None = None
    """Why it failed; None if it did not."""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Imported:
    """The contents of a run directory. `source` is the file or directory that was read."""

    tool: str
    source: Path
    flow: str
    recordings: tuple[Recording, ...]
    settings: Mapping[str, Setting] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    cluster_version: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of each file that was read, if the files of the recordings are made from them."""

    @property
    def started_s(self) -> float | None:
        """Return when its first recording began."""
        return min((one.started_s for one in self.recordings if one.started_s is not None), default=None)

    @property
    def ended_s(self) -> float | None:
        """Return when its last recording ended."""
        return max((one.ended_s for one in self.recordings if one.ended_s is not None), default=None)

    @property
    def error(self) -> str | None:
        """Return why the first failed recording failed."""
        return next((one.error for one in self.recordings if one.error is not None), None)


def write_run_directory(imported: Imported, into: Path | None) -> Path:
    """Write the run and return its directory, which is `into` or a new one in PERF_RUNS_DIR.

    The same files have the same id. Raises UsageError if the directory exists or cannot be written, or if a file to
    copy cannot be read.
    """
    try:
        files = {folder: dict(_contents(recording)) for recording, folder in _folders(imported)}
    except OSError as error:
        raise UsageError(f"cannot read a file of {imported.source}: {error}") from error
    hashes = imported.files or {
        f"{folder}/{name}": hashlib.sha256(content).hexdigest()
        for folder, contents in files.items()
        for name, content in contents.items()
    }
    name = run_id(imported.flow, imported.started_s, hashes)
    run = new_place(into if into is not None else runs_folder() / name)
    for folder, contents in files.items():
        for file, content in contents.items():
            write_bytes(run / folder / "artifacts" / file, content)
    for recording, folder in _folders(imported):
        if recording.cell is not None:
            write_json(run / folder.split("/")[0] / "cell.json", _cell_document(recording, recording.cell))
    write_json(run / "settings.yml", settings_document(imported.settings, imported.tool))
    write_text(run / "timeline.csv", _timeline(imported))
    origin = {"from": imported.tool, "directory": imported.source.name, "files": dict(hashes)}
    write_json(
        run / "run.json",
        {**run_document(name, imported.flow, imported.started_s, imported.ended_s, origin), **_run_facts(imported)},
    )
    return run


def run_id(flow: str, started_s: float | None, hashes: Mapping[str, str]) -> str:
    """Return the id, the same for the same files: flow, start (else `undated`), and a hash of their hashes."""
    digest = hashlib.sha256("".join(f"{name} {text}\n" for name, text in sorted(hashes.items())).encode()).hexdigest()
    stamp = iso(started_s)
    began = "undated" if stamp is None else f"{re.sub(r'[-:]', '', stamp[:19])}Z"
    return f"{flow}-{began}-{digest[:6]}"


def new_place(run: Path) -> Path:
    """Create an empty directory for a run. Raises UsageError if it exists or cannot be created."""
    if run.exists() and (not run.is_dir() or any(run.iterdir())):
        raise UsageError(f"{run} already exists; choose another directory or remove it")
    try:
        run.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot create {run}: {error.strerror}; choose another directory") from error
    return run


def run_document(
    name: str, flow: str, started_s: float | None, ended_s: float | None, origin: Mapping[str, Any]
) -> Document:
    """Return run.json of a successful run that another tool recorded; `origin` names the tool and the files."""
    return {
        "schema": "psap.perf/run/1",
        "id": name,
        "parent": None,
        "flow": flow,
        "status": "ok",
        "exit_code": 0,
        "reason": None,
        "started": iso(started_s),
        "ended": iso(ended_s),
        "attempts": [],
        "tags": {"run": [], "skip": []},
        "presets": [],
        "site": None,
        "cluster": None,
        "versions": {},
        "git": {"commit": None, "dirty": False},
        "lab": None,
        "imported": dict(origin),
    }


def settings_document(settings: Mapping[str, Setting], tool: str) -> Document:
    """Return settings.yml with the test's settings in the tool's files. JSON is YAML: no other writer is needed."""
    entries = {
        name: {
            "value": setting.value,
            "origin": f"imported from {tool}",
            "compare": "key" if setting.key else "ignore",
        }
        for name, setting in settings.items()
    }
    return {"schema": "psap.perf/settings/1", "all": entries, "hosts": {}}


def file_name(text: str) -> str:
    """Return a text as the name of a recording's file."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("._") or "unnamed"


def _folders(imported: Imported) -> Iterator[tuple[Recording, str]]:
    for number, recording in enumerate(imported.recordings):
        above = "" if recording.cell is None else f"cell__{recording.cell[0]:03d}/"
        place = 0 if recording.cell is not None else number
        yield recording, f"{above}{place:03d}__imported__{file_name(recording.name)}"


def _contents(recording: Recording) -> Iterator[tuple[str, bytes]]:
    for name, given in recording.files.items():
        yield name, given if isinstance(given, bytes) else given.read_bytes()


def _cell_document(recording: Recording, cell: tuple[int, Mapping[str, Any]]) -> Document:
    index, values = cell
    return {
        "schema": "psap.perf/cell/1",
        "index": index,
        "name": recording.name,
        "values": dict(values),
        "status": "ok" if recording.error is None else "failed",
        "attempt": 1,
        "started": iso(recording.started_s),
        "ended": iso(recording.ended_s),
        "error": recording.error,
    }


def _run_facts(imported: Imported) -> Document:
    """Return what differs from a successful run without further information."""
    version, error = imported.cluster_version, imported.error
    facts: Document = {"versions": dict(imported.versions)}
    if version is not None:
        facts["cluster"] = {"uid": None, "version": version, "server": ""}
    if error is not None:
        reason = {"what": imported.tool, "where": imported.source.name, "directory": None, "why": error}
        facts |= {"status": "failed", "exit_code": 1, "reason": reason}
    return facts


def _timeline(imported: Imported) -> str:
    status = "ok" if imported.error is None else "failed"
    rows = [("flow", imported.flow, "", imported.started_s, imported.ended_s, status)]
    rows += [
        (
            "command",
            recording.name,
            folder,
            recording.started_s,
            recording.ended_s,
            "ok" if recording.error is None else "failed",
        )
        for recording, folder in _folders(imported)
    ]
    lines = [
        f"{iso(started) or ''},{iso(ended) or ''},,,{kind},{file_name(name)},{folder},{end}"
        for kind, name, folder, started, ended, end in rows
    ]
    return "\n".join(["start,end,host,lane,kind,name,directory,status", *lines]) + "\n"
