"""``perfdrv settings check``: everything the files of a project say about settings, without Ansible or a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.bindings import bindings_of_plays, bound_argument
from ansible_collections.psap.perf.plugins.module_utils.settings.declarations import check_declarations
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where
from ansible_collections.psap.perf.plugins.module_utils.settings.findings import (
    Finding,
    unknown_name,
    wrong_together,
    wrong_value,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import bindings, settle
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import (
    Assignment,
    Preset,
    PresetError,
    Resolver,
    preset_from_file,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.sites import (
    entries_of,
    hosts_of,
    inventory_entries,
    vars_files_below,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.static import all_layers


def check_project(project: Project) -> tuple[Finding, ...]:
    """All that is wrong with the declarations, presets, group_vars and sites of *project*, each thing once."""
    found: dict[str, Finding] = {}
    declarations = list(check_declarations(project))
    for finding in declarations:
        found.setdefault(str(finding), finding)
    if any(finding.fatal for finding in declarations):
        # what cannot be read cannot be checked against
        return tuple(found.values())
    for finding in (*_check_files(project), *_check_presets(project), *_check_sites(project)):
        found.setdefault(str(finding), finding)
    return tuple(found.values())


def _check_files(project: Project) -> Iterator[Finding]:
    """The names in every vars file and inventory, and names that two files of one folder set."""
    for folder in _vars_folders(project):
        for entity in vars_files_below(folder):
            yield from _check_layer(project, entity)
    for site in project.sites.values():
        try:
            entries = list(inventory_entries(project, site))
        except UsageError as error:
            yield _as_finding(error)
            continue
        for entry in entries:
            if "." in entry.key:
                yield Finding(
                    str(entry.where), f"{entry.key}: a leaf of a dictionary can stand in group_vars files only"
                )
            finding = unknown_name(project, entry.key, str(entry.where), must_be_ours=False)
            if finding is not None:
                yield finding


def _vars_folders(project: Project) -> list[Path]:
    places = [project.root, *project.sites.values()]
    return [place / kind for place in places for kind in ("group_vars", "host_vars")]


def _check_layer(project: Project, files: Iterable[Path]) -> Iterator[Finding]:
    first: dict[str, Where] = {}
    for path in files:
        try:
            file = project.read(path)
        except UsageError as error:
            yield _as_finding(error)
            continue
        for entry in entries_of(file):
            finding = unknown_name(project, entry.key, str(entry.where), must_be_ours=False)
            if finding is not None:
                yield finding
            if entry.key in first:
                yield Finding(
                    str(entry.where),
                    f"{entry.key} is set in {first[entry.key]} too, and the order of two files is nobody's intention; "
                    "remove one",
                )
            first.setdefault(entry.key, entry.where)


def _check_presets(project: Project) -> Iterator[Finding]:
    bound = dict(_bindings(project))
    presets: dict[str, Preset] = {}
    for name, path in project.presets.items():
        try:
            presets[name] = preset_from_file(project.read(path))
        except UsageError as error:
            yield _as_finding(error)
    broken = set(project.presets) - set(presets)
    for name, preset in presets.items():
        yield from _check_entries(project, preset, bound)
        try:
            assignments = Resolver(presets.get, presets).resolve([(name, preset.where)])
        except PresetError as error:
            # a parent that cannot be read has its own finding
            if not any(f"no preset {other}" in error.message for other in broken):
                yield _as_finding(error)
            continue
        yield from _check_leaves(project, assignments)
        for flow in project.flows:
            yield from _check_flow(project, flow, None, (name,))


def _check_entries(project: Project, preset: Preset, bound: dict[str, Where]) -> Iterator[Finding]:
    for entry in preset.entries:
        variable = entry.key.partition(".")[0]
        if variable == "extends":
            continue
        finding = unknown_name(project, entry.key, str(entry.where), must_be_ours=True)
        if finding is not None:
            yield finding
        if variable in bound:
            yield bound_argument(project, variable, str(entry.where), str(bound[variable]))


def _check_leaves(project: Project, assignments: Iterable[Assignment]) -> Iterator[Finding]:
    """Arguments that presets set directly; settings are checked with the flow they belong to."""
    for one in assignments:
        option = project.argument(one.variable) if not one.path else None
        if option is not None:
            yield from wrong_value(option, one.value, str(one.where))


def _check_sites(project: Project) -> Iterator[Finding]:
    for flow in project.flows:
        yield from _check_flow(project, flow, None, ())
    for site in project.sites:
        try:
            hosts = hosts_of(project, site)
        except UsageError as error:
            yield _as_finding(error)
            continue
        for flow in project.flows:
            for host in hosts:
                yield from _check_flow(project, flow, site, (), host)


def _check_flow(
    project: Project, flow: str, site: str | None, presets: tuple[str, ...], host: str = "localhost"
) -> Iterator[Finding]:
    """The values that *flow* would have."""
    try:
        settled = settle(all_layers(project, flow, site, presets, host=host))
    except UsageError as error:
        yield _as_finding(error)
        return
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    wrong: list[Finding] = []
    for option in project.settings_of(flow):
        one = settled[option.name]
        values[option.name], origins[option.name] = one.value, one.origin
        if one.value is not None:
            wrong.extend(wrong_value(option, one.value, one.origin))
    yield from wrong or wrong_together(project, project.flow(flow), values, origins)


def _bindings(project: Project) -> Iterator[tuple[str, Where]]:
    """The arguments that settings are, and that vars files, sites, plays and includes set, and where."""
    for bound in bindings(project.every_setting, project.argument):
        yield bound.key, bound.where
    for folder in _vars_folders(project):
        for path in (path for entity in vars_files_below(folder) for path in entity):
            for entry in _entries_or_nothing(project, path):
                if project.argument(entry[0]) is not None:
                    yield entry
    yield from bindings_of_plays(project)


def _entries_or_nothing(project: Project, path: Path) -> Iterator[tuple[str, Where]]:
    """A file that cannot be read has its own finding."""
    try:
        file = project.read(path)
    except UsageError:
        return
    for entry in entries_of(file):
        yield entry.key.partition(".")[0], entry.where


def _as_finding(error: UsageError) -> Finding:
    """An error's own place and message; its text begins with the place."""
    if isinstance(error, PresetError):
        return Finding(str(error.where), error.message)
    where, _colon, message = str(error).partition(": ")
    return Finding(where, message)
