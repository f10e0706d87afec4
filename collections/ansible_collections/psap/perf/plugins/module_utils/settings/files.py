"""YAML files with the line of every key, for errors that name file and line; duplicate keys are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.bounded_yaml import (
    DEEPEST,
    TOO_DEEP,
    Loader,
    UnboundedError,
    check_bounds,
)
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

_TEMPLATE = re.compile(r"\{\{|\{%")
_ANSIBLE_TAGS = ("!vault", "!unsafe", "!vault-encrypted")
VAULTED = "(vaulted)"
# the first bytes of a file that ansible-vault encrypted as a whole, which only Ansible can read
_ENCRYPTED = "$ANSIBLE_VAULT;"


@dataclass(frozen=True, slots=True)
class Where:
    """The place of a value.

    Attributes:
        label: A file below the project, or a text such as ``command line``.
        line: The line in the file.
        tagged: The object that Ansible tagged with this place, so that its errors can show an excerpt.
    """

    label: str
    line: int | None = None
    tagged: Any = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.label}:{self.line}" if self.line else self.label


COMMAND_LINE = Where("command line")


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A YAML mapping, and the line of each of its nodes by their path of keys and indexes."""

    path: Path
    label: str
    data: dict[str, Any]
    lines: Mapping[tuple[str | int, ...], int]

    def where(self, *keys: str | int) -> Where:
        """Return the place of the node below *keys*, or of the nearest node above it."""
        for length in range(len(keys), 0, -1):
            line = self.lines.get(keys[:length])
            if line is not None:
                return Where(self.label, line)
        return Where(self.label, 1)


def is_template(value: object) -> bool:
    """Return whether *value* is a text that Jinja has not rendered yet."""
    return isinstance(value, str) and _TEMPLATE.search(value) is not None


def label_of(path: Path, root: Path) -> str:
    """Return *path* for messages and origins: relative to *root* if it is below."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def read_yaml_file(path: Path, root: Path) -> YamlFile:
    """Return the mapping in *path*; empty for an empty file.

    Args:
        root: The project, to which places are relative.

    Raises:
        UsageError: If it cannot be read, is not a YAML mapping, or has a duplicate key; the message has file and line.
    """
    label = label_of(path, root)
    data, lines = _read(path, label, ())
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise UsageError(f"{label}:1: must be a mapping of names to values, but is a {type(data).__name__}")
    return YamlFile(path=path, label=label, data=data, lines=lines)


def read_yaml_document(path: Path, root: Path) -> YamlFile:
    """Return the document in *path*, such as the list of a playbook, below the key ``document``.

    Raises:
        UsageError: As `read_yaml_file`.
    """
    label = label_of(path, root)
    data, lines = _read(path, label, ("document",))
    return YamlFile(path=path, label=label, data={"document": data}, lines=lines)


def read_yaml_text(text: str) -> Any:
    """Return the value of a YAML text on the command line.

    Raises:
        UsageError: If the text is not YAML, or has a duplicate key.
    """
    # libyaml does not accept Ansible's tagged strings
    return _parse(str.__str__(text), "", ())[0]


def _read(path: Path, label: str, below: tuple[str, ...]) -> tuple[Any, dict[tuple[str | int, ...], int]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{label} cannot be read: {error}") from error
    return (None, {}) if text.startswith(_ENCRYPTED) else _parse(text, label, below)


def _parse(text: str, label: str, below: tuple[str, ...]) -> tuple[Any, dict[tuple[str | int, ...], int]]:
    loader = None
    try:
        check_bounds(text)
        loader = Loader(text)
        node = loader.get_single_node()
        builder = _Builder(loader, label)
        return (None if node is None else builder.build(node, below)), builder.lines
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        fault = error.problem if isinstance(error, UnboundedError) else f"not YAML: {error.problem}"
        raise UsageError(f"{_place(label, line)}{fault}") from None
    except yaml.YAMLError as error:
        # a character that YAML does not allow; the two parsers raise different errors
        raise UsageError(f"{label or 'the text'}: not YAML: {str(error).splitlines()[0]}") from error
    finally:
        if loader is not None:
            loader.dispose()


def _place(label: str, line: int) -> str:
    return f"{label}:{line}: " if label else ""


class _Builder:
    """Converts YAML nodes to plain values and records their lines."""

    def __init__(self, loader: Any, label: str) -> None:
        self.loader = loader
        self.label = label
        self.lines: dict[tuple[str | int, ...], int] = {}

    def build(self, node: Any, path: tuple[str | int, ...]) -> Any:
        line = self.lines.setdefault(path, node.start_mark.line + 1)
        if len(path) > DEEPEST:
            raise UsageError(f"{_place(self.label, line)}{TOO_DEEP}")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child, (*path, index)) for index, child in enumerate(node.value)]
        if node.tag in _ANSIBLE_TAGS:
            return VAULTED if "vault" in node.tag else str(node.value)
        return self.loader.construct_object(node, deep=True)

    def _mapping(self, node: Any, path: tuple[str | int, ...]) -> dict[Any, Any]:
        self._refuse_duplicates(node)
        self.loader.flatten_mapping(node)
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            # AWX also marks keys as unsafe
            tagged = key_node.tag in _ANSIBLE_TAGS
            key = str(key_node.value) if tagged else self.loader.construct_object(key_node, deep=True)
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            result[key] = self.build(value_node, (*path, key))
        return result

    def _refuse_duplicates(self, node: Any) -> None:
        first: dict[str, int] = {}
        for key_node, _value in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                line = key_node.start_mark.line + 1
                raise UsageError(f"{_place(self.label, line)}a key must be a plain word; quote it if it is text")
            line = key_node.start_mark.line + 1
            if key_node.value in first and key_node.value != "<<":
                twice = f"duplicate key {key_node.value}, first in line {first[key_node.value]}"
                raise UsageError(f"{_place(self.label, line)}{twice}; remove one")
            first[key_node.value] = line
