"""What a pull request sets: presets and settings, from a file that a driver wrote, with the places of its directives.

Whoever may comment is not whoever may run anything: only settings that are declared so are taken, as data and never as
a template.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where
from ansible_collections.psap.perf.plugins.module_utils.settings.findings import Finding, unknown_name, wrong_value
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import PULL_REQUEST, Layer, layer
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import Entry
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project

SCHEMA = "psap.perf/pull-arguments/1"
# the variable that names the file
VARIABLE = "perf_pull_arguments"
_TEMPLATE_MARKS = ("{{", "{%", "{#")


@dataclass(frozen=True, slots=True)
class PullArguments:
    """The presets, in order, and the settings."""

    presets: tuple[tuple[str, Where], ...] = ()
    settings: tuple[Entry, ...] = ()

    def document(self) -> dict[str, Any]:
        """As the file has it."""
        return {
            "schema": SCHEMA,
            "presets": [{"name": name, **_place(where)} for name, where in self.presets],
            "settings": [{"name": one.key, "value": one.value, **_place(one.where)} for one in self.settings],
        }


def _place(where: Where) -> dict[str, Any]:
    return {"url": where.label, "line": where.line}


def read_pull_arguments(path: Path) -> PullArguments:
    """The arguments in a file.

    :raises UsageError: when it is none.
    """
    try:
        document = read_yaml(path)
        if document["schema"] != SCHEMA:
            raise KeyError("schema")
        return PullArguments(
            presets=tuple((one["name"], Where(one["url"], one["line"])) for one in document["presets"]),
            settings=tuple(
                Entry(one["name"], one["value"], Where(one["url"], one["line"])) for one in document["settings"]
            ),
        )
    except (PerfError, OSError, KeyError, TypeError) as error:
        raise UsageError(
            f"cannot read the arguments of a pull request from {path} ({type(error).__name__}: {error})"
        ) from error


def pull_layer(project: Project, arguments: PullArguments) -> Layer:
    """The layer of the settings.

    :raises UsageError: naming all that may not be set, each with its place.
    """
    findings = [str(finding) for finding in wrong_arguments(project, arguments)]
    if findings:
        raise UsageError("\n".join(dict.fromkeys(findings)))
    return layer(PULL_REQUEST, arguments.settings)


def wrong_arguments(project: Project, arguments: PullArguments) -> Iterator[Finding]:
    """Everything that a pull request may not say, or that is no value of its setting."""
    for name, where in arguments.presets:
        if name not in project.presets:
            yield Finding(str(where), f"there is no preset {name}{did_you_mean(name, project.presets)}")
    for one in arguments.settings:
        yield from _wrong_setting(project, one)


def _wrong_setting(project: Project, one: Entry) -> Iterator[Finding]:
    place, (name, _dot, leaf) = str(one.where), one.key.partition(".")
    option = project.setting(name)
    if option is None:
        finding = unknown_name(project, one.key, place, must_be_ours=True)
        yield finding or Finding(place, f"{one.key} is not a setting; a pull request can only set settings")
    elif option.secret or not option.pull_request:
        yield Finding(place, f"a pull request cannot set {name}; perfdrv ci arguments --list shows what it can set")
    elif mark := next(_marks_in(one.value), None):
        yield Finding(place, f"{one.key} contains {mark}; a pull request cannot set templates")
    elif not _is_data(one.value):
        yield Finding(place, f"{one.key} is a {type(one.value).__name__} in YAML; quote it if it is text")
    elif not leaf:
        yield from wrong_value(option, one.value, place)


def _marks_in(value: Any) -> Iterator[str]:
    """Marks of Jinja in any text of a value, its keys included."""
    if isinstance(value, str):
        yield from (mark for mark in _TEMPLATE_MARKS if mark in value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _marks_in(key)
            yield from _marks_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _marks_in(item)


def _is_data(value: Any) -> bool:
    """Whether it is what JSON has too; YAML also knows dates and the like."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_data(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_data, value))
    return value is None or isinstance(value, str | bool | int | float)
