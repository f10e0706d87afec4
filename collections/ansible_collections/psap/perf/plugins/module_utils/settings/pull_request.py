"""Presets and settings of a pull request, from a file of the driver, with the places of the directives.

More users can comment than can run tests. So a pull request can only set settings that are declared for it, as data
and never as templates.
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
# the extra variable that names the file
VARIABLE = "perf_pull_arguments"
_TEMPLATE_MARKS = ("{{", "{%", "{#")


@dataclass(frozen=True, slots=True)
class PullArguments:
    """The presets, in order, and the settings."""

    presets: tuple[tuple[str, Where], ...] = ()
    settings: tuple[Entry, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the content of the file."""
        return {
            "schema": SCHEMA,
            "presets": [{"name": name, **_place(where)} for name, where in self.presets],
            "settings": [{"name": one.key, "value": one.value, **_place(one.where)} for one in self.settings],
        }


def _place(where: Where) -> dict[str, Any]:
    return {"url": where.label, "line": where.line}


def read_pull_arguments(path: Path) -> PullArguments:
    """Return the arguments in a file.

    Raises:
        UsageError: If the file has no arguments of a pull request.
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
    """Return the layer of the settings.

    Raises:
        UsageError: If it sets something that a pull request cannot set; the message lists all places.
    """
    findings = [str(finding) for finding in wrong_arguments(project, arguments)]
    if findings:
        raise UsageError("\n".join(dict.fromkeys(findings)))
    return layer(PULL_REQUEST, arguments.settings)


def wrong_arguments(project: Project, arguments: PullArguments) -> Iterator[Finding]:
    """Yield everything that a pull request cannot set, and values that are invalid."""
    for name, where in arguments.presets:
        if name not in project.presets:
            yield Finding(str(where), f"unknown preset {name}{did_you_mean(name, project.presets)}")
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
    """Yield the marks of Jinja in the texts and keys of a value."""
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
    """Return whether JSON can represent a value; YAML also has dates, for example."""
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_data(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_data, value))
    return value is None or isinstance(value, str | bool | int | float)
