"""Read the JSON and YAML documents of a run directory; write documents completely, then rename."""

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
    """Read a document of a given kind (`run`, `settings`, …); older major versions and unknown keys are accepted.

    Returns None and the reason as a finding if the file is missing, unreadable or of another kind.
    """
    try:
        loaded = _load(path)
    except FileNotFoundError:
        return None, (Finding("warning", where, "the file is missing"),)
    except (OSError, ValueError) as error:
        return None, (Finding("warning", where, f"the file cannot be read: {error}"),)
    if not isinstance(loaded, dict):
        return None, (Finding("warning", where, "the file does not contain a mapping"),)
    problem = schema_problem(loaded.get("schema"), kind)
    if problem:
        return None, (Finding("warning", where, problem),)
    return loaded, ()


def _load(path: Path) -> object:
    if path.suffix == ".json":
        return load_json(content(path))
    return load_yaml(content(path).decode())


def load_yaml(text: str) -> Any:
    """Return the value of a YAML text. Raises ValueError if it is invalid, too deep, or too large by its aliases."""
    import yaml

    try:
        return load_bounded(text)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
    # tags that do not match their values end in any of these errors
    except (yaml.YAMLError, AttributeError, TypeError, OverflowError) as error:
        raise ValueError(" ".join(str(error).split())) from error


def load_yaml_documents(text: str) -> list[Any]:
    """Return the values of the documents of a YAML text, without empty ones. Raises ValueError as `load_yaml`."""
    parts = re.split(r"^---(?:\s.*)?$", text, flags=re.MULTILINE)
    return [value for value in map(load_yaml, parts) if value is not None]


def load_json(content: bytes) -> Any:
    """Return the value of a JSON text. Raises ValueError if it is not JSON, not UTF-8, or nested too deeply.

    Surrogates, which JSON can contain and UTF-8 cannot, become question marks, so that the value can be written.
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
    """Return why this version cannot read the `schema` of a document; None if it can."""
    match = SCHEMA.fullmatch(schema) if isinstance(schema, str) else None
    if match is None:
        return f"its schema is {schema!r}, not psap.perf/{kind}/{NEWEST_MAJOR}"
    if match["kind"] != kind:
        return f"expected a {kind} document, found a {match['kind']} document"
    if int(match["major"]) > NEWEST_MAJOR:
        return f"its major version is {match['major']}; this perfanalysis reads up to {NEWEST_MAJOR}: update it"
    return None


def mapping(value: object) -> Document:
    """Return a value that should be a mapping; empty if it is not."""
    return value if isinstance(value, dict) else {}


def listing(value: object) -> list[Any]:
    """Return a value that should be a list; empty if it is not."""
    return value if isinstance(value, list) else []


def text_or_none(value: object) -> str | None:
    """Return a value that should be a text; None if it is not."""
    return value if isinstance(value, str) else None


def number_or(value: object, default: float) -> float:
    """Return a value that should be a number; `default` if it is not, or an integer beyond all floats."""
    try:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default
    except OverflowError:
        return default


def finite_number(value: object) -> float | None:
    """Return a number; None if it is not a number, not finite, or an integer beyond all floats."""
    number = number_or(value, math.nan)
    return number if math.isfinite(number) else None


def any_number(value: object) -> float | None:
    """Return a number, or a number in a text, including NaN and infinity; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def write_text(path: Path, text: str) -> None:
    """Write a file under another name, then rename it: readers never see an incomplete file. Credentials are hidden."""
    write_bytes(path, hide(text).encode("utf-8", "replace"))


def write_bytes(path: Path, content: bytes) -> None:
    """As `write_text`, for bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with _locked(partial) as stream:
        try:
            # a killed process may have left an incomplete temporary file
            stream.truncate(0)
            stream.write(content)
            stream.flush()
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def refuse_links(run: Path, target: Path) -> None:
    """Refuse to write to a folder in a run directory through symbolic links, which others may have created.

    Raises UsageError if the target, a folder above it within the run, or an entry in it is a link or neither file nor
    folder. A target outside of the run is the user's responsibility.
    """
    place, root = target.absolute(), run.absolute()
    if not place.is_relative_to(root):
        return
    above = [place, *place.parents][: len(place.parts) - len(root.parts)]
    within = place.rglob("*") if place.is_dir() and not place.is_symlink() else ()
    for path in (*above, *within):
        if path.is_symlink() or (path.exists() and not path.is_file() and not path.is_dir()):
            what = "a symbolic link" if path.is_symlink() else "no file"
            raise UsageError(f"cannot write to {target}: {path} is {what}; remove it or choose another --output")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """Open the file of that name, created if missing, locked until the block or this process ends."""
    while True:
        # never through a link or into a pipe in its place
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o666), "ab") as stream:
            # without locks in the file system, only concurrent writers of the same file are affected
            with contextlib.suppress(OSError):
                fcntl.flock(stream, fcntl.LOCK_EX)
            if _is_at(path, stream):
                yield stream
                return


def _is_at(path: Path, stream: BinaryIO) -> bool:
    """Return whether the open file still has that name: the last holder of the lock may have renamed or removed it."""
    try:
        return path.stat().st_ino == os.fstat(stream.fileno()).st_ino
    except FileNotFoundError:
        return False


def write_json(path: Path, document: Document) -> None:
    """Write a JSON document; NaN and infinity are refused, since missing values are null."""
    write_text(path, json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def parse_time(text: object) -> float | None:
    """Return the seconds since the epoch of an ISO 8601 time with a zone; None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else None


def seconds_between(begin_s: float | None, end_s: float | None) -> float | None:
    """Return a duration to the microsecond, None if either time is unknown."""
    return None if begin_s is None or end_s is None else round(end_s - begin_s, 6)


def iso(seconds: float | None) -> str | None:
    """Return a time as run.json has it: UTC, in milliseconds. None for one before 1970 or after 9999."""
    if seconds is None or not 0 <= seconds < END_OF_TIME_S:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
