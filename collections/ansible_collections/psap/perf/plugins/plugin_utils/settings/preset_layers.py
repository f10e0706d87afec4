"""The layers inside Ansible, which the vars plugin returns and the action ``settings`` checks and records."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible.template import trust_as_template
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where
from ansible_collections.psap.perf.plugins.module_utils.settings.findings import Finding
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import (
    BASE,
    GIVEN,
    HOST,
    PRESET_KINDS,
    REPLAY,
    Layer,
    declared_layers,
    given_settings,
    layer,
    settle,
    with_leaves,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.pull_request import (
    VARIABLE,
    PullArguments,
    pull_layer,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.static import (
    pull_arguments_in,
)
from ansible_collections.psap.perf.plugins.plugin_utils.ansible_private import (
    tagged_at,
)
from ansible_collections.psap.perf.plugins.plugin_utils.settings.announced_presets import AnnouncedPresets
from ansible_collections.psap.perf.plugins.plugin_utils.settings.extra_vars import REPLAYED_RUN, extra_layer, recorded
from ansible_collections.psap.perf.plugins.plugin_utils.settings.inventory_layers import LANE_OF, InventoryLayers

# Shows the action that the plugin is enabled; its value is the list of the applied presets.
MARKER = "perf_presets_applied"
# The folders of task files: those that flows share, and those of the running flow.
SHARED_TASKS, FLOW_TASKS, FOLDERS = "perf_shared_tasks", "perf_flow_tasks", "perf_task_folders"
# The shared setting with the presets of the site's clusters.
PROFILES = "clusters_profiles"


class PresetLayers:
    """The layers of every host from Ansible's inventory, its vars files and its extra vars."""

    def __init__(self, project: Project, loader: Any, extra: Mapping[str, Any]) -> None:
        """Read files with Ansible's data *loader*; *extra* are the extra vars, prepared."""
        self.project = project
        self.extra = extra
        self._loader = loader
        self._inventory = InventoryLayers(project.root, loader)
        self._announced = AnnouncedPresets(project, loader)

    def for_everyone(self, group: Any, path: str) -> dict[str, Any]:
        """Return the values below group_vars and the inventory's group ``all``.

        These are the defaults of arguments and settings, and the arguments that settings bind.
        """
        self._inventory.all_group = group
        if not self._is_beside_playbook(path):
            if path not in self._inventory.folders:
                self._inventory.folders.append(path)
            return {}
        overridden = {
            *group.get_vars(),
            *(one.variable for one in self._inventory.files(BASE, path, group).assignments),
        }
        values = {**self._lowest, **self._inventory.of_collection(group), **self._task_folders}
        for name in overridden & values.keys():
            del values[name]
        return values

    def for_host(self, host: Any, path: str) -> dict[str, Any]:
        """Return the values of presets and a replay for *host*, and dictionaries of which a layer sets only a leaf.

        A lane also gets the variables of its host.

        Raises:
            PresetError: If a preset cannot be applied; the message has its file and line.
        """
        self._inventory.hosts[host.name] = host
        return self._given(host.name) if self._is_beside_playbook(path) else {}

    def layers(self, host: str) -> list[Layer]:
        """Return all layers of *host*, low to high; `for_host` must have been called for it.

        Variables of plays and includes are above these layers and unknown here.
        """
        lower = [*self._declared, *self._inventory.of(self._inventory.hosts[host])]
        pull = self._pull(str(self.extra.get(VARIABLE) or ""))
        presets = self._announced.layer(self.extra, settle(lower, frozenset(("perf_presets",))), pull.presets)
        of_pull = [pull_layer(self.project, pull)] if pull.settings else []
        run = self.extra.get(REPLAYED_RUN)
        replay = [layer(REPLAY, recorded(self.project, str(run), host)[0])] if run else []
        return [*lower, *replay, presets, *of_pull, extra_layer(self.project, self.extra)]

    def unfit_presets(self, flow: str, host: str) -> Iterator[Finding]:
        """Yield the findings for presets that are given to *flow* and are only for other flows."""
        profiles = settle(self.layers(host), frozenset((PROFILES,))).get(PROFILES)
        asked_for = dict(profiles.value).values() if profiles is not None and isinstance(profiles.value, dict) else ()
        yield from self._announced.unfit(flow, self.extra, tuple(map(str, asked_for)))

    def check_files(self) -> None:
        """Read every vars file and YAML inventory of this run again, strictly.

        Raises:
            UsageError: If a key is duplicate, which Ansible would accept; the message has file and line.
        """
        files = [file for files in self._inventory.vars_files() for file in files]
        inventories = (Path(folder).glob("*.y*ml") for folder in self._inventory.folders)
        for path in (*files, *(file.resolve() for found in inventories for file in sorted(found))):
            self.project.read(path)

    def _given(self, host: str) -> dict[str, Any]:
        layers = self.layers(host)
        # Ansible itself sets only the variables of the lane's groups
        kinds = (HOST, *PRESET_KINDS) if LANE_OF in self._inventory.hosts[host].vars else PRESET_KINDS
        upper = {one.variable for source in layers if source.kind in kinds for one in source.assignments}
        leaves = with_leaves(layers)
        wanted = frozenset(name for name in upper | leaves if name not in self.extra)
        given = {name: one.value for name, one in settle(layers, wanted).items()}
        named = given_settings(layers[len(self._declared) :], self._setting_names)
        return {**given, MARKER: list(self._announced.applied), GIVEN: named}

    @functools.cached_property
    def _lowest(self) -> dict[str, Any]:
        """Return the values for every host: settings and bindings override the defaults of arguments."""
        declared = (one for source in self._declared for one in source.assignments)
        return {**self._argument_defaults(), **{one.variable: one.value for one in declared}}

    @functools.cached_property
    def _task_folders(self) -> dict[str, Any]:
        folders = {name: str(path) for name, path in self.project.task_folders.items()}
        of_flow = trust_as_template(f"{{{{ {FOLDERS}[perf_flow] }}}}")
        return {FOLDERS: folders, SHARED_TASKS: folders.get("shared", ""), FLOW_TASKS: of_flow}

    def _argument_defaults(self) -> dict[str, Any]:
        """Return the defaults of all arguments; Ansible itself reads those of a published role."""
        return {
            one.name: self._declared_at(one.default, one.where)
            for command in self.project.every_command
            if not command.defaults_file.is_file()
            for one in command.own_optional
        }

    @functools.cached_property
    def _setting_names(self) -> frozenset[str]:
        return frozenset(option.name for option in self.project.every_setting)

    @functools.lru_cache(maxsize=4)  # noqa: B019 - see InventoryLayers.files
    def _pull(self, path: str) -> PullArguments:
        return pull_arguments_in({VARIABLE: path})

    @functools.cached_property
    def _declared(self) -> tuple[Layer, Layer]:
        """Return the layers of defaults and of bindings."""
        return declared_layers(self.project, tag=self._declared_at)

    def _declared_at(self, value: Any, at: Where) -> Any:
        return tagged_at(value, self.project.root / at.label, at.line)

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - see InventoryLayers.files
    def _is_beside_playbook(self, path: str) -> bool:
        return Path(path).resolve() == Path(self._loader.get_basedir()).resolve()
