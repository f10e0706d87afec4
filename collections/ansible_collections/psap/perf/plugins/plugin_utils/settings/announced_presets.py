"""The presets that a site, the extra vars and a pull request choose, read by Ansible's loader."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.settings.files import COMMAND_LINE, Where, read_yaml_file
from ansible_collections.psap.perf.plugins.module_utils.settings.findings import Finding
from ansible_collections.psap.perf.plugins.module_utils.settings.fitting import unfit_preset
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import PRESET, Layer, SettledValue
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import (
    PREFIX,
    Assignment,
    Entry,
    Preset,
    PresetError,
    Resolver,
    names_in,
    preset_from_file,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.plugin_utils.ansible_private import origin_file, where

NAMES = "perf_presets"


class AnnouncedPresets:
    """Reads every preset once and resolves each combination once."""

    def __init__(self, project: Project, loader: Any) -> None:
        """Read presets with Ansible's data *loader*."""
        self.applied: tuple[str, ...] = ()
        self._given: tuple[tuple[str, Where], ...] = ()
        self._project = project
        self._loader = loader
        self._presets: dict[str, Preset | None] = {}
        self._resolved: dict[tuple[str, ...], Layer] = {}

    def layer(
        self, extra: Mapping[str, Any], site: Mapping[str, SettledValue], pull: Sequence[tuple[str, Where]] = ()
    ) -> Layer:
        """Return the layer of all presets: of the *site*'s ``perf_presets``, the *extra* vars and a *pull* request.

        Raises:
            PresetError: If a preset is unknown or not well formed, or presets extend each other in a loop.
        """
        self._given = (*self._named_by(extra), *pull)
        named = (*self._named_by_site(site), *self._given)
        names = tuple(name for name, _where in named)
        if names not in self._resolved:
            self._resolved[names] = Layer(PRESET, self._resolve(named, extra))
        self.applied = names
        return self._resolved[names]

    def unfit(self, flow: str, extra: Mapping[str, Any], wanted_by_site: Collection[str]) -> Iterator[Finding]:
        """Yield the findings for presets of the extra vars and of a pull request that are only for other flows.

        A site chooses presets for all flows, so the presets of its clusters are accepted.
        """
        for name, place in self._given:
            if name not in wanted_by_site:
                finding = unfit_preset(self._project, flow, name, place, self._resolve([(name, place)], extra))
                if finding is not None:
                    yield finding

    def _resolve(self, named: Iterable[tuple[str, Where]], extra: Mapping[str, Any]) -> tuple[Assignment, ...]:
        return Resolver(lambda name: self._preset(name, extra), self._project.presets).resolve(named)

    def _named_by_site(self, site: Mapping[str, SettledValue]) -> Iterator[tuple[str, Where]]:
        if NAMES in site:
            place = site[NAMES].wheres[-1]
            yield from ((name, place) for name in names_in(site[NAMES].value, place))

    def _named_by(self, extra: Mapping[str, Any]) -> Iterator[tuple[str, Where]]:
        """Yield the presets of the extra vars, in the order of the command line."""
        for variable, value in extra.items():
            place = where(value, self._project.root) or COMMAND_LINE
            if variable.startswith(PREFIX):
                yield variable.removeprefix(PREFIX), place
            elif variable == NAMES:
                yield from ((name, place) for name in names_in(value, place))

    def _preset(self, name: str, extra: Mapping[str, Any]) -> Preset | None:
        if name not in self._presets:
            variable = PREFIX + name
            if variable in extra:
                self._presets[name] = self._from_extra_var(name, extra[variable])
            elif name in self._project.presets:
                self._presets[name] = self._from_file(name, self._project.presets[name])
            else:
                self._presets[name] = None
        return self._presets[name]

    def _from_extra_var(self, name: str, body: Any) -> Preset:
        path = origin_file(body)
        place = where(body, self._project.root) or COMMAND_LINE
        if path is None or place.label == COMMAND_LINE.label:
            raise PresetError(
                f"preset_{name} is defined in an extra variable; write it to presets/{name}.yml and pass "
                f'-e @presets/{name}.yml, or pass -e \'{{"perf_presets": ["{name}"]}}\'',
                place,
            )
        preset_from_file(read_yaml_file(path, self._project.root))
        return self._tagged(name, body)

    def _from_file(self, name: str, path: Path) -> Preset:
        preset_from_file(self._project.read(path))
        variables = self._loader.load_from_file(str(path), trusted_as_template=True)
        return self._tagged(name, variables[PREFIX + name])

    def _tagged(self, name: str, body: Mapping[str, Any]) -> Preset:
        """Return the preset with the values that Ansible tagged with their places."""
        root = self._project.root
        entries = [Entry(str(key), value, where(key, root) or COMMAND_LINE) for key, value in body.items()]
        return Preset(name, tuple(entries), where(body, root) or COMMAND_LINE)
