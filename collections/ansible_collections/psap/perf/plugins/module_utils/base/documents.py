"""JSON and YAML documents of the artifacts, written completely and then renamed; each contains its schema's name."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.bounded_yaml import (
    DEEPEST,
    MOST_VALUES,
    TOO_DEEP,
    load_yaml,
)
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError

# libyaml's dumper is ten times faster, if it is installed
_FastDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
# the analysis also writes into run directories, but names its partial files differently
_PARTIAL = re.compile(r"\..+\.[0-9a-f]{8}\.partial")
# far above any document of a run; without a limit, one hostile document stops every reader
_LARGEST_BYTES = 64 << 20


class _Dumper(_FastDumper):  # type: ignore[misc]  # known only at run time
    """Writes texts of several lines, such as the files in a ConfigMap, as lines."""


def _text(dumper: Any, text: str) -> Any:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


@contextlib.contextmanager
def completing(path: Path) -> Iterator[Path]:
    """Yield a path to write to; it is renamed to *path* if the block ends without an error, and removed otherwise.

    `remove_partials` removes the files that a kill -9 leaves.
    """
    partial = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.partial")
    try:
        yield partial
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a text file that becomes *path* if the block ends without an error, and is removed otherwise.

    Raises:
        PerfError: If the disk is full or the folder cannot be written.
    """
    try:
        # the user's umask sets its mode; pylint does not see that completing() cleans up
        with completing(path) as partial, partial.open("x", encoding="utf-8") as stream:  # pylint: disable=contextmanager-generator-missing-cleanup
            yield stream
    except OSError as error:
        raise PerfError(f"cannot write {path}: {error.strerror}; free space or choose another folder") from error


def remove_partials(directory: Path) -> None:
    """Remove, at any depth, the partial files of killed processes; no other process may use *directory*."""
    for path in directory.rglob(".*.partial"):
        if _PARTIAL.fullmatch(path.name):
            path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write *text* to *path*, completely or not at all, with credentials of a known form hidden."""
    with replacing(path) as stream:
        stream.write(hide(text))


def plain(value: Any) -> Any:
    """Return *value* in plain Python types: no dumper supports Ansible's tagged strings and numbers."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def dump_yaml(value: Any) -> str:
    """Return *value* as YAML for a file, credentials of a known form hidden before long lines are folded."""
    return yaml_text(_shown(plain(value)))


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return hide(value) if isinstance(value, str) else value


def yaml_text(value: Any) -> str:
    """Return *value* as YAML, keys in their order, without escapes."""
    return str(
        yaml.dump(
            plain(value),
            Dumper=_Dumper,
            sort_keys=False,
            allow_unicode=True,
            width=120,
            default_flow_style=False,
        )
    )


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write *document*, which has its ``schema``, as indented JSON."""
    write_text(path, json_text(document))


def json_text(document: Mapping[str, Any]) -> str:
    """Return *document* as indented JSON, credentials of a known form hidden."""
    return hide(json.dumps(plain(document), indent=2, ensure_ascii=False) + "\n")


def write_yaml(path: Path, document: Mapping[str, Any]) -> None:
    """Write *document*, which has its ``schema``, as YAML."""
    write_text(path, dump_yaml(document))


def read_json(path: Path) -> dict[str, Any]:
    """Return the document in *path*.

    Raises:
        PerfError: If it is missing or not a JSON object.
    """
    return _read(path, parse_json)


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the document in *path*.

    Raises:
        PerfError: If it is missing or not a YAML mapping.
    """
    return _read(path, load_yaml)


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text that others may have written.

    Raises:
        ValueError: If it is not JSON, or nested too deeply.
    """
    try:
        return _bounded(json.loads(text))
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def _bounded(value: Any) -> Any:
    """Return *value* if all readers can traverse it, which one hostile document could prevent.

    Raises:
        ValueError: If it is too large or too deep.
    """
    left, counted = [(value, 0)], 0
    while left:
        one, depth = left.pop()
        counted += 1
        if depth > DEEPEST:
            raise ValueError(TOO_DEEP)
        if counted > MOST_VALUES:
            raise ValueError(f"it holds more than {MOST_VALUES} values")
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        left += ((each, depth + 1) for each in inner)
    return value


def _read(path: Path, parse: Any) -> dict[str, Any]:
    if path.exists() and not path.is_file():
        # reading from a pipe would block
        raise PerfError(f"cannot read {path}: it is not a file")
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise ValueError(f"it has more than {_LARGEST_BYTES >> 20} MiB")
        document = parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PerfError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, yaml.YAMLError) as error:
        raise PerfError(f"{path} cannot be read as a document: {error}") from error
    if not isinstance(document, dict):
        raise PerfError(f"{path} contains a {type(document).__name__}, not a document")
    return document


def command_files(run: Path, pattern: str) -> list[Path]:
    """Return the files of a run's commands, without those of another run that a command retrieved as artifacts."""
    return [path for path in sorted(run.rglob(pattern)) if "artifacts" not in path.relative_to(run).parts]
