"""Settings for ``perfdrv settings``, without a cluster or a play; templates are not rendered.

The layers below the presets come from Ansible, as `Site`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.settings.bindings import (
    arguments_over_settings,
    presets_over_bindings,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.files import (
    COMMAND_LINE,
    Where,
    YamlFile,
    read_yaml_file,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.findings import unknown_name
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import (
    DEFAULT,
    EXTRA,
    PRESET,
    Layer,
    LayerValue,
    declared_layers,
    default_where,
    history,
    layer,
    settle,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import (
    Assignment,
    Entry,
    Preset,
    Resolver,
    names_in,
    preset_from_file,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.pull_request import (
    VARIABLE,
    PullArguments,
    pull_layer,
    read_pull_arguments,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option
from ansible_collections.psap.perf.plugins.module_utils.settings.types import convert_leaf

Override = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class EffectiveValue:
    """A variable with its resulting value; templates are not rendered."""

    name: str
    value: Any
    origin: str
    option: Option | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The value of one variable and its value in each layer, lowest first."""

    name: str
    option: Option | None
    value: Any
    layers: tuple[LayerValue, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting with different values on two sides; ``None`` also if a side does not have it."""

    name: str
    left: Any
    right: Any


@dataclass(frozen=True, slots=True)
class PresetSummary:
    """A preset in a list: its first comment, the presets that it extends, and the settings that it sets itself."""

    name: str
    comment: str
    extends: tuple[str, ...]
    sets: tuple[tuple[str, Any], ...]
    where: str


def load_preset(project: Project, name: str) -> Preset | None:
    """Return the preset *name* of the project; None if it does not exist."""
    path = project.presets.get(name)
    return None if path is None else preset_from_file(project.read(path))


def resolve_presets(project: Project, names: Iterable[tuple[str, Where]]) -> tuple[Assignment, ...]:
    """Return the assignments of presets of the project and of those that they extend, in order.

    Raises:
        UsageError: If a preset does not exist or is not well formed, or presets extend each other in a loop.
    """
    return Resolver(lambda name: load_preset(project, name), project.presets).resolve(names)


def list_presets(project: Project) -> tuple[PresetSummary, ...]:
    """Return all presets of the project.

    Raises:
        UsageError: If a preset file is not well formed.
    """
    return tuple(_summary(project.read(path)) for path in project.presets.values())


def all_layers(
    project: Project,
    flow: str | None,
    below: Iterable[Layer] = (),
    presets: Sequence[str] = (),
    overrides: Sequence[Override] = (),
) -> list[Layer]:
    """Return every layer of a host, low to high.

    Args:
        project: The project that declares the settings.
        flow: The flow whose settings to return; None for all flows.
        below: The site's layers for the host. Their ``perf_presets`` come before *presets*.
        presets: Names, in order.
        overrides: Names and values of the command line; texts become values of the declared type.

    Raises:
        UsageError: If a flow, preset or override is unknown, presets form a loop, or a text is not of its type.
    """
    layers = [*_declared(project, flow), *below]
    chosen = settle(layers, frozenset(("perf_presets",))).get("perf_presets")
    named = [(name, COMMAND_LINE) for name in presets]
    if chosen is not None:
        named = [*((name, chosen.wheres[-1]) for name in names_in(chosen.value, chosen.wheres[-1])), *named]
    pull = pull_arguments_in(dict(overrides))
    layers.append(Layer(PRESET, resolve_presets(project, [*named, *pull.presets])))
    if pull.settings:
        layers.append(pull_layer(project, pull))
    layers.append(layer(EXTRA, [_override(project, name, value) for name, value in overrides]))
    return layers


def pull_arguments_in(extra: Mapping[str, Any]) -> PullArguments:
    """Return the arguments of the pull request whose file the extra variables name; empty if they name no file.

    Raises:
        UsageError: If the file has no arguments of a pull request.
    """
    path = extra.get(VARIABLE)
    return read_pull_arguments(Path(str(path))) if path else PullArguments()


def effective(
    project: Project,
    flow: str | None,
    below: Iterable[Layer] = (),
    presets: Sequence[str] = (),
    overrides: Sequence[Override] = (),
) -> dict[str, EffectiveValue]:
    """Return the settings of *flow* (of all flows if None), and every other variable that is an argument of a command.

    Raises:
        UsageError: As `all_layers`, or if a leaf is set below a value that is not a dictionary.
    """
    settled = settle(all_layers(project, flow, below, presets, overrides))
    found = {name: (one, project.option(name)) for name, one in settled.items()}
    return {
        name: EffectiveValue(name, one.value, one.origin, option)
        for name, (one, option) in sorted(found.items())
        if option is not None
    }


def explain(project: Project, flow: str | None, layers: Sequence[Layer], name: str) -> Explanation:
    """Return the value of *name* and its value in each of *layers*, low to high.

    Raises:
        UsageError: If *layers* contradict each other, which a run refuses, or *name* is unknown.
    """
    layers = _agreeing(project, flow, layers)
    option = project.option(name)
    if option is not None and project.setting(name) is None:
        layers.insert(0, layer(DEFAULT, [Entry(name, option.default, default_where(option.where.label))]))
    values = history(layers, name)
    if option is None and not values:
        raise UsageError(f"unknown setting or argument {name}{did_you_mean(name, project.names)}")
    settled = settle(layers, frozenset((name,)))
    return Explanation(name, option, settled[name].value if name in settled else None, values)


def _agreeing(project: Project, flow: str | None, layers: Sequence[Layer]) -> list[Layer]:
    """Return *layers* if a run accepts them.

    Raises:
        UsageError: If they contradict each other.
    """
    findings = dict.fromkeys(
        map(str, (*presets_over_bindings(project, layers), *arguments_over_settings(project, flow, layers)))
    )
    if findings:
        raise UsageError("\n".join(findings))
    return list(layers)


def diff(left: Mapping[str, Any], right: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Return the names whose values differ, sorted."""
    names = sorted({*left, *right})
    return tuple(
        Difference(name, left.get(name), right.get(name)) for name in names if left.get(name) != right.get(name)
    )


def values_of_run(run_directory: Path) -> dict[str, Any]:
    """Return the settings that a run recorded, by name.

    Raises:
        PerfError: If the run has no readable ``settings.yml``.
    """
    path = run_directory / "settings.yml"
    entries = read_yaml(path).get("all") or {}
    try:
        return {str(name): entry["value"] for name, entry in entries.items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise PerfError(f"invalid settings of a run in {path}: each name below all must have a value") from error


def connection_of_run(run_directory: Path) -> dict[str, Any]:
    """Return the variables of a run's command line for the connection to its hosts and clusters.

    Raises:
        PerfError: If the run has no readable ``settings.yml``.
    """
    path = run_directory / "settings.yml"
    found = read_yaml(path).get("connection") or {}
    if not isinstance(found, dict):
        raise PerfError(f"invalid settings of a run in {path}: connection must be a mapping")
    return found


def find_run(runs: Path, run: str) -> Path:
    """Return the directory of *run*: a path, or a name below *runs*.

    Raises:
        UsageError: If neither has a ``settings.yml``.
    """
    for directory in (Path(run).expanduser().absolute(), runs / run):
        if (directory / "settings.yml").is_file():
            return directory
    raise UsageError(f"no run {run} with a settings.yml here or in {runs}; perfdrv runs list shows all runs")


def replay_entries(run_directory: Path, project: Project, host: str) -> tuple[list[Entry], dict[str, Any]]:
    """Return the recorded values of a run for *host*, by current names.

    The first part are settings, with their places in ``settings.yml``. The second part are the arguments of the run's
    command line, which must be extra variables again to override the same bindings.
    """
    file = read_yaml_file(run_directory / "settings.yml", project.root)
    entries: list[Entry] = []
    arguments: dict[str, Any] = {}
    for path, table in (("all",), file.data.get("all")), (("hosts", host), (file.data.get("hosts") or {}).get(host)):
        for old, one in (table or {}).items():
            name = project.renamed.get(old, old)
            if one["origin"] == COMMAND_LINE.label and project.setting(name) is None:
                arguments[name] = one["value"]
            else:
                entries.append(Entry(name, one["value"], file.where(*path, old)))
    return entries, arguments


@functools.lru_cache(maxsize=64)
def _declared(project: Project, flow: str | None) -> tuple[Layer, Layer]:
    return declared_layers(project, flow)


def _override(project: Project, name: str, value: Any) -> Entry:
    variable, *path = name.split(".")
    option = project.option(variable)
    if option is None and not variable.startswith("perf_"):
        # Ansible's own variables are valid
        finding = unknown_name(project, name, COMMAND_LINE.label, must_be_ours=True)
        if finding is not None:
            raise UsageError(str(finding))
    if option is not None and isinstance(value, str):
        try:
            value = convert_leaf(option, tuple(path), value)
        except ValueError as error:
            raise UsageError(f"{name} {error} (command line)") from error
    return Entry(name, value, COMMAND_LINE)


def _summary(file: YamlFile) -> PresetSummary:
    preset = preset_from_file(file)
    lines = file.path.read_text(encoding="utf-8").splitlines()
    first = next((line for line in lines if line.startswith("#")), "")
    comment = first.lstrip("# ").removeprefix(f"presets/{file.path.name}").lstrip(" \u2013-:")
    own = tuple((entry.key, entry.value) for entry in preset.entries if entry.key != "extends")
    return PresetSummary(preset.name, comment, preset.extends, own, str(preset.where))
