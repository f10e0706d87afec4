"""Presets: named sets of setting values, resolved in the order in which they are given.

Independent of Ansible: both Ansible's vars plugin and the driver read presets into :class:`Preset`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where, YamlFile

PREFIX = "preset_"
EXTENDS = "extends"
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class PresetError(UsageError):
    """A preset that cannot be applied; ``where`` is the place of the wrong value."""

    def __init__(self, message: str, where: Where) -> None:
        super().__init__(f"{where}: {message}")
        self.message = message
        self.where = where


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a preset: a setting, or with dots one leaf of it."""

    key: str
    value: Any
    where: Where


@dataclass(frozen=True, slots=True)
class Preset:
    """A preset as in its file; ``extends`` is one of its entries."""

    name: str
    entries: tuple[Entry, ...]
    where: Where

    @property
    def extends(self) -> tuple[str, ...]:
        """Return the presets that it extends, in order."""
        return tuple(name for entry in self.entries if entry.key == EXTENDS for name, _where in parents(entry))


@dataclass(frozen=True, slots=True)
class Assignment:
    """One change of one variable: its whole value, or the leaf at ``path``; with its place and preset."""

    variable: str
    path: tuple[str, ...]
    value: Any
    where: Where
    preset: str | None = None


def split_key(key: str, value: Any, where: Where, preset: str | None = None) -> Assignment:
    """Return ``a.b.c`` as the variable ``a`` and the path ``(b, c)``.

    Raises:
        PresetError: If a part is empty, as in ``a..b``.
    """
    variable, *path = key.split(".")
    if not variable or not all(path):
        raise PresetError(f"invalid name {key}: a part between its dots is empty", where)
    return Assignment(variable=variable, path=tuple(path), value=value, where=where, preset=preset)


def preset_from_file(file: YamlFile) -> Preset:
    """Return the preset that *file* defines.

    Raises:
        PresetError: If the file does not define exactly one variable, named after the file, with a mapping.
    """
    expected = PREFIX + file.path.stem
    check_name(file.path.stem, file.where())
    for variable in file.data:
        if variable != expected:
            raise PresetError(wrong_variable(str(variable), file.path.name), file.where(variable))
    if expected not in file.data:
        raise PresetError(f"the file is empty; define {expected}", file.where())
    body = file.data[expected]
    if not isinstance(body, Mapping):
        raise PresetError(f"{expected} must be a mapping of settings to values", file.where(expected))
    entries = tuple(Entry(str(key), value, file.where(expected, key)) for key, value in body.items())
    return Preset(name=file.path.stem, entries=entries, where=file.where(expected))


def check_name(name: str, where: Where) -> None:
    """Refuse a name of a preset that cannot be part of a variable's name."""
    if not _NAME.fullmatch(name):
        rule = "begin with a lower-case letter and use lower-case letters, digits and underscores"
        raise PresetError(f"invalid preset name {name}: {rule}", where)


def wrong_variable(variable: str, file_name: str) -> str:
    """Return the message for a preset file that defines *variable* instead of the variable named after the file."""
    stem = file_name.rpartition(".")[0] or file_name
    if variable.startswith(PREFIX):
        other = variable.removeprefix(PREFIX)
        return (
            f"{file_name} defines {variable}, but file and variable must have the same name: "
            f"rename the variable to {PREFIX}{stem}, or the file to {other}.yml"
        )
    return (
        f"{file_name} sets {variable} outside its preset, where it would override every include and cell; "
        f"move it into {PREFIX}{stem}"
    )


def parents(entry: Entry) -> Sequence[tuple[str, Where]]:
    """Return the names in an ``extends`` entry."""
    value = [entry.value] if isinstance(entry.value, str) else entry.value
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise PresetError("extends must be the name of a preset or a list of names", entry.where)
    return [(str(name), entry.where) for name in value]


def names_in(value: Any, where: Where) -> tuple[str, ...]:
    """Return the names in ``perf_presets``: a list, or a text with commas or spaces between the names."""
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise PresetError("perf_presets must be a list of names of presets, as in [lab, smoke]", where)
    return tuple(str(name) for name in value)


class Resolver:
    """Converts names of presets to assignments; parents are applied at the position of ``extends``."""

    def __init__(self, load: Callable[[str], Preset | None], known: Iterable[str]) -> None:
        """Read presets with *load*, which returns None for an unknown one; *known* are the names to suggest then."""
        self._load = load
        self._known = tuple(known)

    def resolve(self, names: Iterable[tuple[str, Where]]) -> tuple[Assignment, ...]:
        """Return the assignments of all presets, in order.

        Raises:
            PresetError: If presets extend each other in a loop, or one is unknown.
        """
        result: list[Assignment] = []
        for name, where in names:
            self._apply(name, where, (), result)
        return tuple(result)

    def _apply(self, name: str, where: Where, chain: tuple[str, ...], result: list[Assignment]) -> None:
        if name in chain:
            loop = " → ".join((*chain[chain.index(name) :], name))
            raise PresetError(f"presets extend each other in a loop: {loop}; remove one of these extends", where)
        preset = self._load(name)
        if preset is None:
            way_out = did_you_mean(name, self._known) or "; perfdrv settings presets lists them"
            raise PresetError(f"unknown preset {name}{way_out}", where)
        for entry in preset.entries:
            if entry.key == EXTENDS:
                for parent, parent_where in parents(entry):
                    self._apply(parent, parent_where, (*chain, name), result)
            else:
                result.append(split_key(entry.key, entry.value, entry.where, name))
