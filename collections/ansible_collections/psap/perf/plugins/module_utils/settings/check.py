"""``perfdrv settings check``: checks all values in a project's files, without a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.bindings import bindings_of_plays, bound_argument
from ansible_collections.psap.perf.plugins.module_utils.settings.declarations import check_declarations
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where, YamlFile, label_of
from ansible_collections.psap.perf.plugins.module_utils.settings.findings import (
    Finding,
    unknown_name,
    wrong_together,
    wrong_value,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.fitting import unfit_preset
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import Layer, bindings, settle
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import (
    Assignment,
    Entry,
    Preset,
    PresetError,
    Resolver,
    preset_from_file,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.site import Site
from ansible_collections.psap.perf.plugins.module_utils.settings.static import all_layers


def check_project(project: Project, sites: Mapping[str, Site], no_site: Site) -> tuple[Finding, ...]:
    """Return all problems of the declarations, presets, group_vars and sites of *project*, each once.

    Args:
        project: The project to check.
        sites: Its sites, read by Ansible, by name.
        no_site: The values without an inventory, with which flows and presets are checked.
    """
    found: dict[str, Finding] = {}
    declarations = list(check_declarations(project))
    for finding in declarations:
        found.setdefault(str(finding), finding)
    if any(finding.fatal for finding in declarations):
        # other checks need the declarations
        return tuple(found.values())
    everywhere = (no_site, *sites.values())
    bound = dict(_bindings(project, everywhere))
    checks = (
        *_check_problems(project, sites),
        *_check_files(project, everywhere),
        *_check_presets(project, bound, no_site.layers_of()),
        *_check_flows(project, everywhere),
    )
    for finding in checks:
        found.setdefault(str(finding), finding)
    return tuple(found.values())


def _check_problems(project: Project, sites: Mapping[str, Site]) -> Iterator[Finding]:
    for name, site in sites.items():
        if site.problem:
            yield Finding(
                label_of(project.sites[name], project.root), f"Ansible cannot read this inventory: {site.problem}"
            )


def _check_files(project: Project, sites: Iterable[Site]) -> Iterator[Finding]:
    """Yield the problems of names in vars files and inventories."""
    for site in sites:
        for files in site.files():
            yield from _check_layer(project, files)
        for entry in site.inline:
            if "." in entry.key:
                yield Finding(
                    str(entry.where), f"{entry.key}: only group_vars and host_vars files can set a leaf of a dictionary"
                )
            finding = unknown_name(project, entry.key, str(entry.where), must_be_ours=False)
            if finding is not None:
                yield finding


def _check_layer(project: Project, files: Iterable[Path]) -> Iterator[Finding]:
    first: dict[str, Where] = {}
    for path in files:
        try:
            file = project.read(path)
        except UsageError as error:
            yield _as_finding(error)
            continue
        for entry in _entries_of(file):
            finding = unknown_name(project, entry.key, str(entry.where), must_be_ours=False)
            if finding is not None:
                yield finding
            if entry.key in first:
                yield Finding(
                    str(entry.where),
                    f"{entry.key} is also set in {first[entry.key]}; remove one",
                )
            first.setdefault(entry.key, entry.where)


def _check_presets(project: Project, bound: Mapping[str, Where], below: tuple[Layer, ...]) -> Iterator[Finding]:
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
            # there is already a finding for a parent that cannot be read
            if not any(f"no preset {other}" in error.message for other in broken):
                yield _as_finding(error)
            continue
        yield from _check_leaves(project, assignments)
        for flow in project.flows:
            if unfit_preset(project, flow, name, preset.where, assignments) is None:
                yield from _check_flow(project, flow, below, (name,))


def _check_entries(project: Project, preset: Preset, bound: Mapping[str, Where]) -> Iterator[Finding]:
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
    """Check the arguments that a preset sets directly; settings are checked with their flow."""
    for one in assignments:
        option = project.argument(one.variable) if not one.path else None
        if option is not None:
            yield from wrong_value(option, one.value, str(one.where))


def _check_flows(project: Project, sites: Iterable[Site]) -> Iterator[Finding]:
    for site in sites:
        for below in site.hosts.values():
            for flow in project.flows:
                yield from _check_flow(project, flow, below)


def _check_flow(
    project: Project, flow: str, below: tuple[Layer, ...], presets: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """Yield the problems of the values of *flow*."""
    try:
        settled = settle(all_layers(project, flow, below, presets))
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


def _bindings(project: Project, sites: Iterable[Site]) -> Iterator[tuple[str, Where]]:
    """Yield the arguments that settings, vars files, inventories, plays and includes bind, and where."""
    for bound in bindings(project.every_setting, project.argument):
        yield bound.key, bound.where
    for site in sites:
        entries = [entry for files in site.files() for path in files for entry in _readable(project, path)]
        for entry in (*site.inline, *entries):
            name = entry.key.partition(".")[0]
            if project.argument(name) is not None:
                yield name, entry.where
    yield from bindings_of_plays(project)


def _readable(project: Project, path: Path) -> tuple[Entry, ...]:
    """Return the variables of a vars file; none if it cannot be read, which is a separate finding."""
    try:
        return tuple(_entries_of(project.read(path)))
    except UsageError:
        return ()


def _entries_of(file: YamlFile) -> Iterator[Entry]:
    """Yield the variables of a vars file."""
    for key, value in file.data.items():
        yield Entry(str(key), value, file.where(key))


def _as_finding(error: UsageError) -> Finding:
    """Return an error as a finding; its text begins with the place."""
    if isinstance(error, PresetError):
        return Finding(str(error.where), error.message)
    where, _colon, message = str(error).partition(": ")
    return Finding(where, message)
