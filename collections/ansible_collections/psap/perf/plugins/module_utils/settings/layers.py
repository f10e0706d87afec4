"""The layers of settings, low to high, and the values that result from them.

Ansible's vars plugin and the driver both build their layers from this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import (
    Assignment,
    Entry,
    PresetError,
    split_key,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option

DEFAULT = "default"
BASE = "group_vars"
MISSING = "is required, and nothing sets it"
"""A template's error about a required argument of a command without a flow."""
GIVEN = "perf_given_settings"
"""A variable of every host: the settings that a layer above the declared defaults sets."""
SITE = "site"
HOST = "host_vars"
REPLAY = "replay"
PRESET = "preset"
PULL_REQUEST = "pull request"
EXTRA = "command line"
# the layers that the vars plugin adds above the inventory
PRESET_KINDS = (REPLAY, PRESET, PULL_REQUEST)


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of values, such as a site's ``group_vars/all``; later assignments override earlier ones."""

    kind: str
    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class SettledValue:
    """The value of a variable after all layers, and the places of its parts, lowest first."""

    value: Any
    kind: str
    wheres: tuple[Where, ...]
    has_leaves: bool = False

    @property
    def origin(self) -> str:
        """Return the places as one text: ``presets/lab.yml:4``."""
        return ", ".join(dict.fromkeys(str(where) for where in self.wheres))


def layer(kind: str, entries: Iterable[Entry]) -> Layer:
    """Return a layer of entries whose keys may have dots."""
    return Layer(kind, tuple(split_key(entry.key, entry.value, entry.where) for entry in entries))


def declared_layers(
    project: Project, flow: str | None = None, tag: Callable[[Any, Where], Any] = lambda value, _where: value
) -> tuple[Layer, Layer]:
    """Return the layers of defaults and bindings that the settings files declare.

    Args:
        project: The project that declares them.
        flow: The flow whose defaults to return; None for all flows.
        tag: Returns a value with the place where it is declared.
    """
    settings = project.every_setting if flow is None else project.settings_of(flow)
    defaults = [
        Entry(option.name, tag(option.default, option.where), default_where(option.where.label)) for option in settings
    ]
    bound = [
        replace(entry, value=tag(entry.value, entry.where))
        for entry in bindings(project.every_setting, project.argument)
    ]
    return layer(DEFAULT, defaults), layer(BASE, bound)


def bindings(settings: Iterable[Option], argument_of: Callable[[str], Option | None]) -> Iterator[Entry]:
    """Yield the arguments that *settings* bind, each with the template that gives it the setting's value.

    If settings of several flows bind an argument, the setting of the running flow applies. A command without a flow
    gets the first setting in the variable ``perf_given_settings``, and otherwise its own default.
    """
    bound: dict[str, list[Option]] = {}
    for setting in settings:
        for argument in setting.arguments:
            bound.setdefault(argument, []).append(setting)
    for name, (first, *others) in bound.items():
        value = first.current
        for other in others:
            value = f"({other.current}) if perf_flow | default('') == '{other.section}' else ({value})"
        own = argument_of(name)
        if own is not None and (others or own.required or own.default != first.default):
            value = f"({value}) if perf_flow | default('') else {_alone(own, (first, *others))}"
        yield Entry(name, f"{{{{ {value} }}}}", first.where)


def _alone(argument: Option, settings: Iterable[Option]) -> str:
    """Return the Jinja expression of an argument's value without a flow."""
    value = f"undef('{argument.name} {MISSING}')" if argument.required else repr(argument.default)
    for setting in reversed(tuple(settings)):
        value = f"({setting.current}) if '{setting.name}' in {GIVEN} | default([]) else ({value})"
    return value


def default_where(label: str) -> Where:
    """Return the place of a declared default."""
    return Where(f"default ({label})")


def given_settings(layers: Iterable[Layer], settings: frozenset[str]) -> list[str]:
    """Return the *settings* that a layer above the declared defaults sets."""
    return sorted(
        settings & {one.variable for source in layers if source.kind != DEFAULT for one in source.assignments}
    )


def settle(layers: Iterable[Layer], only: frozenset[str] | None = None) -> dict[str, SettledValue]:
    """Return the values after all *layers*, of the variables in *only* or of all.

    A whole value replaces the leaves set before it; a leaf changes a copy of the value below.

    Raises:
        PresetError: If a leaf is set below a value that is not a dictionary.
    """
    values: dict[str, SettledValue] = {}
    for source in layers:
        for assignment in source.assignments:
            name = assignment.variable
            if only is None or name in only:
                values[name] = _applied(values.get(name), assignment, source.kind)
    return values


def with_leaves(layers: Iterable[Layer]) -> frozenset[str]:
    """Return the variables of which a layer sets only a leaf."""
    return frozenset(assignment.variable for source in layers for assignment in source.assignments if assignment.path)


def _applied(before: SettledValue | None, assignment: Assignment, kind: str) -> SettledValue:
    if not assignment.path:
        return SettledValue(assignment.value, kind, (assignment.where,))
    value = _with_leaf(None if before is None else before.value, assignment, 0)
    wheres = () if before is None else before.wheres
    return SettledValue(value, kind, (*wheres, assignment.where), has_leaves=True)


def _with_leaf(before: Any, assignment: Assignment, depth: int) -> Any:
    if before is None:
        before = {}
    if not isinstance(before, Mapping):
        above = ".".join((assignment.variable, *assignment.path[:depth]))
        whole = ".".join((assignment.variable, *assignment.path))
        raise PresetError(
            f"{whole} sets a leaf of {above}, which is not a dictionary but {before!r}; set {above} as a whole",
            assignment.where,
        )
    key, *rest = assignment.path[depth:]
    leaf = _with_leaf(before.get(key), assignment, depth + 1) if rest else assignment.value
    return {**before, key: leaf}


@dataclass(frozen=True, slots=True)
class LayerValue:
    """The value of a variable in one layer; ``wins`` if it is (part of) the value in force."""

    kind: str
    key: str
    value: Any
    origin: str
    wins: bool


def history(layers: Sequence[Layer], name: str) -> tuple[LayerValue, ...]:
    """Return the values that the layers give to the variable *name*, lowest first."""
    found = [(source.kind, one) for source in layers for one in source.assignments if one.variable == name]
    whole = [index for index, (_kind, one) in enumerate(found) if not one.path]
    first_winner = whole[-1] if whole else 0
    return tuple(
        LayerValue(
            kind=kind if one.preset is None else f"preset {one.preset}",
            key=".".join((one.variable, *one.path)),
            value=one.value,
            origin=str(one.where),
            wins=index >= first_winner,
        )
        for index, (kind, one) in enumerate(found)
    )
