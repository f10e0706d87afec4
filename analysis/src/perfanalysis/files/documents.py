"""Read the JSON and YAML documents of a run directory; write documents whole, then rename."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from perfanalysis.errors import UsageError
from perfanalysis.files.bounded import content
from perfanalysis.files.bounded_yaml import TOO_DEEP
from perfanalysis.files.bounded_yaml import load_yaml as load_bounded
from perfanalysis.files.credentials import hide
from perfanalysis.files.findings import Finding

SCHEMA = re.compile(r"psap\.perf/(?P<kind>[a-z_-]+)/(?P<major>\d+)")
NEWEST_MAJOR = 1
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
Document = dict[str, Any]
END_OF_TIME_S = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
"""The last time that can be written."""


def read_document(path: Path, kind: str, where: str) -> tuple[Document | None, tuple[Finding, ...]]:
    """Read a document of a given kind (`run`, `settings`, …); older majors and unknown keys are accepted.

    Returns None and the reason as a finding when the file is missing, unreadable or of another kind.
    """
    try:
        loaded = _load(path)
    except FileNotFoundError:
        return None, (Finding("warning", where, "the file is missing"),)
    except (OSError, ValueError) as error:
        return None, (Finding("warning", where, f"the file cannot be read: {error}"),)
    if not isinstance(loaded, dict):
        return None, (Finding("warning", where, "the file holds no mapping"),)
    problem = schema_problem(loaded.get("schema"), kind)
    if problem:
        return None, (Finding("warning", where, problem),)
    return loaded, ()


def _load(path: Path) -> object:
    if path.suffix == ".json":
        return load_json(content(path))
    return load_yaml(content(path).decode())


def load_yaml(text: str) -> Any:
    """The value of a YAML text. Raises ValueError for what is no YAML, too deep, or too large by its aliases."""
    import yaml

    try:
        return load_bounded(text)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
    # tags that do not fit their values end in any of these
    except (yaml.YAMLError, AttributeError, TypeError, OverflowError) as error:
        raise ValueError(" ".join(str(error).split())) from error


def load_yaml_documents(text: str) -> list[Any]:
    """The values of the documents of a YAML text, without empty ones. Raises ValueError as `load_yaml`."""
    parts = re.split(r"^---(?:\s.*)?$", text, flags=re.MULTILINE)
    return [value for value in map(load_yaml, parts) if value is not None]


def load_json(content: bytes) -> Any:
    """The value of a JSON text. Raises ValueError for what is no JSON, no UTF-8, or nested too deeply.

    Halves of characters, which JSON can spell and UTF-8 cannot, become question marks, else nothing could be written.
    """
    try:
        loaded = json.loads(content)
        return _whole(loaded) if SURROGATE.search(content) else loaded
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_whole(one) for one in value]
    return {_whole(key): _whole(one) for key, one in value.items()} if isinstance(value, dict) else value


def schema_problem(schema: object, kind: str) -> str | None:
    """Say why a document's `schema` is not one this version reads; None when it is."""
    match = SCHEMA.fullmatch(schema) if isinstance(schema, str) else None
    if match is None:
        return f"its schema is {schema!r}, not psap.perf/{kind}/{NEWEST_MAJOR}"
    if match["kind"] != kind:
        return f"it is a {match['kind']} document where a {kind} document belongs"
    if int(match["major"]) > NEWEST_MAJOR:
        return f"it has major version {match['major']}; this perfanalysis reads up to {NEWEST_MAJOR}: update it"
    return None


def mapping(value: object) -> Document:
    """A part of a document that should be a mapping; empty when it is not."""
    return value if isinstance(value, dict) else {}


def listing(value: object) -> list[Any]:
    """A part of a document that should be a list; empty when it is not."""
    return value if isinstance(value, list) else []


def text_or_none(value: object) -> str | None:
    """A part of a document that should be a text; None when it is not."""
    return value if isinstance(value, str) else None


def number_or(value: object, default: float) -> float:
    """A part of a document that should be a number; `default` when it is none, or an integer beyond all floats."""
    try:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default
    except OverflowError:
        return default


def finite_number(value: object) -> float | None:
    """A number; None for what is none, not finite, or an integer beyond all floats."""
    number = number_or(value, math.nan)
    return number if math.isfinite(number) else None


def any_number(value: object) -> float | None:
    """A number or a text of one, NaN and infinity too; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def write_text(path: Path, text: str) -> None:
    """Write a file whole under another name, then rename it, so that no reader sees half of it, nor credentials."""
    write_bytes(path, hide(text).encode("utf-8", "replace"))


def write_bytes(path: Path, content: bytes) -> None:
    """As `write_text`, for bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with _locked(partial) as stream:
        try:
            # one that was killed may have left the beginning of its own
            stream.truncate(0)
            stream.write(content)
            stream.flush()
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def refuse_links(run: Path, target: Path) -> None:
    """Refuse to write to a folder in a run directory by way of symbolic links: others may have made them.

    Raises UsageError for a link, or anything else but files and folders, at the target, above it within the run, or in
    it. A target outside of the run is the user's own.
    """
    place, root = target.absolute(), run.absolute()
    if not place.is_relative_to(root):
        return
    above = [place, *place.parents][: len(place.parts) - len(root.parts)]
    within = place.rglob("*") if place.is_dir() and not place.is_symlink() else ()
    for path in (*above, *within):
        if path.is_symlink() or (path.exists() and not path.is_file() and not path.is_dir()):
            what = "a symbolic link" if path.is_symlink() else "no file"
            raise UsageError(f"cannot write to {target}: {path} is {what}; remove it, or choose another --output")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """The file of that name, made if need be, for nobody else until the block ends or this process does."""
    while True:
        # never through a link, nor into a pipe, that stands in its place
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o666), "ab") as stream:
            # where a file system has no locks, only two that write the same file at the same moment would notice
            with contextlib.suppress(OSError):
                fcntl.flock(stream, fcntl.LOCK_EX)
            if _is_at(path, stream):
                yield stream
                return


def _is_at(path: Path, stream: BinaryIO) -> bool:
    """Whether the open file has that name still: who had the lock before us has renamed or removed it."""
    try:
        return path.stat().st_ino == os.fstat(stream.fileno()).st_ino
    except FileNotFoundError:
        return False


def write_json(path: Path, document: Document) -> None:
    """Write a JSON document; NaN and infinity are refused, since missing values are null."""
    write_text(path, json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def parse_time(text: object) -> float | None:
    """Seconds since the epoch of an ISO 8601 time with zone; None for null or anything else."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else None


def iso(seconds: float | None) -> str | None:
    """A time as run.json has it: UTC, to the millisecond. None for one before 1970 or after 9999: it is no time."""
    if seconds is None or not 0 <= seconds < END_OF_TIME_S:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
