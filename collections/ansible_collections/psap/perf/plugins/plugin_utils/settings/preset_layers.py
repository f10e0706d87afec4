"""The layers as Ansible has them: what the vars plugin gives, and what the action ``settings`` checks and records."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleParserError
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.run.directory import runs_root
from ansible_collections.psap.perf.plugins.module_utils.settings.files import COMMAND_LINE, Where
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import (
    BASE,
    EXTRA,
    GIVEN,
    HOST,
    PRESET_KINDS,
    REPLAY,
    Layer,
    Settled,
    declared_layers,
    given_settings,
    layer,
    settle,
    with_leaves,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import Entry, PresetError
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.pull_request import (
    VARIABLE,
    PullArguments,
    pull_layer,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option
from ansible_collections.psap.perf.plugins.module_utils.settings.static import (
    find_run,
    pull_arguments_in,
    replayed,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.survey import misread_texts, unanswered
from ansible_collections.psap.perf.plugins.module_utils.settings.types import convert_leaf
from ansible_collections.psap.perf.plugins.plugin_utils.ansible_private import (
    drop_extra_var,
    extra_vars,
    origin_file,
    set_extra_var,
    tagged_at,
    where,
)
from ansible_collections.psap.perf.plugins.plugin_utils.settings.announced_presets import AnnouncedPresets
from ansible_collections.psap.perf.plugins.plugin_utils.settings.inventory_layers import LANE_OF, InventoryLayers

# Shows the action that the plugin is at work; its value is the list of the presets that were applied.
MARKER = "perf_presets_applied"
REPLAYED_RUN = "perf_replay"


class PresetLayers:
    """The layers of every host, put together from Ansible's inventory, its vars files and its extra vars."""

    def __init__(self, project: Project, loader: Any) -> None:
        """*loader* is Ansible's data loader."""
        self.project = project
        self._loader = loader
        self._inventory = InventoryLayers(project.root, loader)
        self._announced = AnnouncedPresets(project, loader)
        self._converted = False

    def for_everyone(self, group: Any, path: str) -> dict[str, Any]:
        """The defaults, and the bindings, that neither group_vars nor the inventory's group ``all`` override."""
        self._inventory.all_group = group
        if not self._is_beside_playbook(path):
            if path not in self._inventory.folders:
                self._inventory.folders.append(path)
            return {}
        overridden = {
            *group.get_vars(),
            *(one.variable for one in self._inventory.files(BASE, path, group).assignments),
        }
        declared = (one for source in self._declared for one in source.assignments)
        return {one.variable: one.value for one in declared if one.variable not in overridden}

    def for_host(self, host: Any, path: str) -> dict[str, Any]:
        """What presets and a replay give to *host*, and the dictionaries of which some layer sets only a leaf.

        A lane also gets the variables of the host that it belongs to.

        :raises AnsibleParserError: for everything that is wrong with a preset, with its file and line.
        """
        self._inventory.hosts[host.name] = host
        if not self._is_beside_playbook(path):
            return {}
        try:
            return self._given(host.name)
        except PresetError as error:
            raise AnsibleParserError(str(error), obj=error.where.tagged) from error
        except PerfError as error:
            raise AnsibleParserError(str(error)) from error

    def layers(self, host: str) -> list[Layer]:
        """All layers of *host*, low to high; the host must have been asked for before.

        What plays and includes set is above these and unknown here.
        """
        lower = [*self._declared, *self._inventory.of(self._inventory.hosts[host])]
        extra = extra_vars(self._loader)
        pull = self._pull(str(extra.get(VARIABLE) or ""))
        presets = self._announced.layer(extra, settle(lower, frozenset(("perf_presets",))), pull.presets)
        of_pull = [pull_layer(self.project, pull)] if pull.settings else []
        return [*lower, *self._replay(host), presets, *of_pull, self._extra_layer()]

    @property
    def extra(self) -> dict[str, Any]:
        """The extra vars as they are in force."""
        return extra_vars(self._loader)

    def settled(self, host: str) -> dict[str, Settled]:
        """Every variable that some layer gives to *host*."""
        return settle(self.layers(host))

    def check_files(self) -> None:
        """Read every vars file and YAML inventory of this run once more, strictly.

        :raises UsageError: for a key that stands twice, of which Ansible would take the last one, with file and line.
        """
        files = [file for files in self._inventory.vars_files() for file in files]
        inventories = (Path(folder).glob("*.y*ml") for folder in self._inventory.folders)
        for path in (*files, *(file.resolve() for found in inventories for file in sorted(found))):
            self.project.read(path)

    def _given(self, host: str) -> dict[str, Any]:
        self._prepare_extra_vars()
        layers = self.layers(host)
        extra = extra_vars(self._loader)
        # Ansible itself gives a lane the variables of its groups only
        kinds = (HOST, *PRESET_KINDS) if LANE_OF in self._inventory.hosts[host].vars else PRESET_KINDS
        upper = {one.variable for source in layers if source.kind in kinds for one in source.assignments}
        leaves = with_leaves(layers)
        wanted = frozenset(name for name in upper | leaves if name not in extra)
        given = {name: one.value for name, one in settle(layers, wanted).items()}
        named = given_settings(layers[len(self._declared) :], self._setting_names)
        return {**given, MARKER: list(self._announced.applied), GIVEN: named}

    @functools.cached_property
    def _setting_names(self) -> frozenset[str]:
        return frozenset(option.name for option in self.project.every_setting)

    def _prepare_extra_vars(self) -> None:
        """Once: texts become what is declared, leaves go into their dictionary, a replay's arguments are given again,
        and a survey's answers are what was written.

        Extra vars beat all that a plugin can give, so this is done in the extra vars themselves.
        """
        if self._converted:
            return
        self._converted = True
        extra = extra_vars(self._loader)
        for file in dict.fromkeys(filter(None, map(origin_file, extra))):
            # strictly: Ansible accepts a key that stands twice, and values that their aliases multiply
            self.project.read(file)
        self._take_answers(extra)
        if extra.get(REPLAYED_RUN):
            for name, value in self._recorded(str(extra[REPLAYED_RUN]), "localhost")[1].items():
                if name not in extra:
                    set_extra_var(self._loader, name, value)
        for name, value in list(extra.items()):
            variable, *path = name.split(".")
            option = self.project.option(variable) if isinstance(value, str) else None
            if option is not None and (converted := _converted(option, tuple(path), value)) is not value:
                set_extra_var(self._loader, name, converted)
        for name, one in settle([self._extra_layer()]).items():
            if one.has_leaves and name in extra:
                set_extra_var(self._loader, name, one.value)

    def _take_answers(self, extra: Mapping[str, Any]) -> None:
        """In a job of AWX: what nobody answered is left out, and what Ansible took for no text is one again."""
        for name in list(unanswered(extra, self.project)):
            drop_extra_var(self._loader, name)
        read_from = {str(key): origin_file(key) for key in extra}
        for name, text in misread_texts(extra, self.project, read_from.get).items():
            set_extra_var(self._loader, name, text)

    def _extra_layer(self) -> Layer:
        extra = extra_vars(self._loader)
        return layer(EXTRA, [Entry(key, extra[key], self._where_extra(key, extra[key])) for key in extra])

    def _where_extra(self, key: str, value: Any) -> Where:
        return where(key, self.project.root) or where(value, self.project.root) or COMMAND_LINE

    def _replay(self, host: str) -> list[Layer]:
        run = extra_vars(self._loader).get(REPLAYED_RUN)
        return [layer(REPLAY, self._recorded(str(run), host)[0])] if run else []

    @functools.lru_cache(maxsize=4)  # noqa: B019 - see InventoryLayers.files
    def _pull(self, path: str) -> PullArguments:
        return pull_arguments_in({VARIABLE: path})

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - see InventoryLayers.files
    def _recorded(self, run: str, host: str) -> tuple[list[Entry], dict[str, Any]]:
        return replayed(find_run(runs_root(self.project.root), run), self.project, host)

    @functools.cached_property
    def _declared(self) -> tuple[Layer, Layer]:
        """The defaults of settings, and the arguments that settings are."""
        return declared_layers(self.project, tag=self._declared_at)

    def _declared_at(self, value: Any, at: Where) -> Any:
        return tagged_at(value, self.project.root / at.label, at.line)

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - see InventoryLayers.files
    def _is_beside_playbook(self, path: str) -> bool:
        return Path(path).resolve() == Path(self._loader.get_basedir()).resolve()


def _converted(option: Option, path: tuple[str, ...], text: str) -> Any:
    """What *text* means, or *text* itself where it is no value of the option: the action says so, with all else."""
    try:
        return convert_leaf(option, path, text)
    except ValueError:
        return text
