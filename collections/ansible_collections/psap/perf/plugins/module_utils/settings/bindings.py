"""Arguments that a setting, a vars file or a play binds: they must not be set elsewhere as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where, YamlFile, read_yaml_document
from ansible_collections.psap.perf.plugins.module_utils.settings.findings import Finding
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import (
    BASE,
    EXTRA,
    HOST,
    PRESET_KINDS,
    SITE,
    Layer,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option


def presets_over_bindings(project: Project, layers: Iterable[Layer]) -> Iterator[Finding]:
    """Yield the bound arguments that presets set: a play or an include would silently override the preset."""
    layers = tuple(layers)
    of_presets = [
        one
        for source in layers
        for one in (source.assignments if source.kind in PRESET_KINDS else ())
        if one.preset is not None and project.setting(one.variable) is None
    ]
    bound = _bound(project, layers) if of_presets else {}
    for one in of_presets:
        if one.variable in bound:
            yield bound_argument(project, one.variable, str(one.where), str(bound[one.variable]))


def arguments_over_settings(project: Project, flow: str | None, layers: Iterable[Layer]) -> Iterator[Finding]:
    """Yield the arguments on a flow's command line that a setting binds: a run records and compares the setting."""
    for source in layers:
        for one in source.assignments if source.kind == EXTRA else ():
            setting = _setting_of(project, one.variable, flow)
            if setting is not None:
                yield Finding(
                    str(one.where), f"{one.variable} is bound to the setting {setting.name}; set {setting.name}=…"
                )


def bound_argument(project: Project, name: str, where: str, binding: str) -> Finding:
    """Return the finding for a preset that sets an argument which *binding* binds."""
    setting = _setting_of(project, name)
    way_out = (
        f"set the setting that it is bound to, or pass the argument itself with -e {name}=…"
        if setting is None
        else f"set {setting.name}"
    )
    return Finding(where, f"{name} is an argument that {binding} binds; {way_out}")


def bindings_of_plays(project: Project) -> Iterator[tuple[str, Where]]:
    """Yield the arguments that plays and includes set, and where."""
    folders = (*project.folders("playbooks"), *project.folders("flows"))
    for path in (path for folder in folders for path in sorted(folder.rglob("*.yml"))):
        if path.name != "settings.yml" and "group_vars" not in path.parts:
            for name, where in _task_variables(project, path):
                if project.argument(name) is not None:
                    yield name, where


def _bound(project: Project, layers: tuple[Layer, ...]) -> dict[str, Where]:
    below = {
        one.variable: one.where
        for source in layers
        if source.kind in (BASE, SITE, HOST)
        for one in source.assignments
        if project.argument(one.variable) is not None
    }
    return {**dict(bindings_of_plays(project)), **below}


def _setting_of(project: Project, argument: str, flow: str | None = None) -> Option | None:
    """Return the setting that *argument* is bound to, of *flow* if it has one."""
    found = [setting for setting in project.every_setting if argument in setting.arguments]
    return next((setting for setting in found if setting.section == flow), found[0] if found else None)


def _task_variables(project: Project, path: Path) -> Iterator[tuple[str, Where]]:
    """Yield every name below a ``vars:`` of a playbook or task file."""
    try:
        file = read_yaml_document(path, project.root)
    except UsageError:
        return
    yield from _variables_below(file, file.data["document"], ("document",))


def _variables_below(file: YamlFile, node: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str, Where]]:
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _variables_below(file, item, (*path, index))
    elif isinstance(node, dict):
        for key, value in node.items():
            if key == "vars" and isinstance(value, dict):
                yield from ((str(name), file.where(*path, "vars", name)) for name in value)
            else:
                yield from _variables_below(file, value, (*path, key))
