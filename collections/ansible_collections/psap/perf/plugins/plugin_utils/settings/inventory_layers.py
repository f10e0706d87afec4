"""The layers of an inventory and its vars files, read by Ansible's own classes."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.inventory.helpers import sort_groups
from ansible.plugins.loader import vars_loader
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import BASE, HOST, SITE, Layer, layer
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import Entry
from ansible_collections.psap.perf.plugins.module_utils.settings.project import INSTALLED_PLAYBOOKS
from ansible_collections.psap.perf.plugins.plugin_utils.ansible_private import where

# A variable of a lane: the host that it belongs to.
LANE_OF = "perf_lane_of"
_INVENTORY = Where("the inventory")
_PLUGIN_STAGES = ("all_plugins_play", "groups_plugins_play", "all_plugins_inventory", "groups_plugins_inventory")


class InventoryLayers:
    """The layers that an inventory and vars files give to its hosts.

    Attributes:
        hosts: Ansible's hosts by name; a lane's layers include those of its host here.
        all_group: Ansible's group ``all``.
        folders: The folders of the inventory files, in order.
    """

    def __init__(self, root: Path, loader: Any) -> None:
        """Read files with Ansible's data *loader*; show their paths relative to *root*, the project."""
        self.hosts: dict[str, Any] = {}
        self.all_group: Any = None
        self.folders: list[str] = []
        self._root = root
        self._loader = loader

    def of(self, host: Any) -> Iterator[Layer]:
        """Yield the layers of *host*, low to high: groups in the order of ansible.cfg's ``precedence``, then its own.

        Args:
            host: A host of Ansible's inventory.
        """
        groups = sort_groups([group for group in host.get_groups() if group.name != "all"])
        for stage in constants.VARIABLE_PRECEDENCE:
            members = [self.all_group] if stage.startswith("all_") else groups
            if stage in _PLUGIN_STAGES:
                yield from self._stage_files(stage, members)
            else:
                yield from (self._inline(SITE, group) for group in members)
        belongs_to = self.hosts.get(host.vars.get(LANE_OF))
        for one in (host,) if belongs_to is None else (belongs_to, host):
            yield self._inline(HOST, one)
            for path in (*self.folders, self._loader.get_basedir()):
                yield self.files(HOST, path, one)

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - there is one instance for the whole process; the files of a run do not change
    def files(self, kind: str, folder: str, entity: Any) -> Layer:
        """Return the layer of the files for a group or host in ``group_vars`` or ``host_vars`` below *folder*."""
        plugin = vars_loader.get("host_group_vars")
        return layer(kind, self.entries(plugin.get_vars(self._loader, folder, [entity])))

    def of_collection(self, group: Any) -> dict[str, Any]:
        """Return the published collection's variables of *group*; empty if Ansible itself reads them."""
        plugin = vars_loader.get("host_group_vars")
        folders = self._beside_playbooks()[:-1]
        return {
            key: value for folder in folders for key, value in plugin.get_vars(self._loader, folder, [group]).items()
        }

    def _beside_playbooks(self) -> list[str]:
        """Return the folders with playbooks, low to high: the published collection's, then the playbook's."""
        published = [str(INSTALLED_PLAYBOOKS)] if INSTALLED_PLAYBOOKS.is_dir() else []
        return list(dict.fromkeys([*published, self._loader.get_basedir()]))

    def entries(self, variables: Mapping[str, Any]) -> Iterator[Entry]:
        """Yield the entries of *variables*, with their places from Ansible's tags."""
        for key, value in variables.items():
            yield Entry(str(key), value, self._where(key, value))

    def vars_files(self) -> Iterator[tuple[Path, ...]]:
        """Yield the files of each group and host below ``group_vars`` and ``host_vars``, in Ansible's order."""
        for folder in (*self._beside_playbooks(), *self.folders):
            for path in (Path(folder) / "group_vars", Path(folder) / "host_vars"):
                names = {entity.name.partition(".")[0] for entity in path.iterdir()} if path.is_dir() else ()
                for name in sorted(names):
                    yield tuple(Path(file).resolve() for file in self._loader.find_vars_files(str(path), name))

    def _stage_files(self, stage: str, members: list[Any]) -> Iterator[Layer]:
        beside_playbook = stage.endswith("_play")
        for folder in self._beside_playbooks() if beside_playbook else self.folders:
            yield from (self.files(BASE if beside_playbook else SITE, folder, member) for member in members)

    def _inline(self, kind: str, entity: Any) -> Layer:
        return layer(kind, self.entries(entity.vars))

    def _where(self, key: str, value: Any) -> Where:
        """Return the key's place, or the value's if that was read from another file than the key."""
        of_key, of_value = where(key, self._root), where(value, self._root)
        if of_key is None or (of_value is not None and of_value.label != of_key.label):
            return of_value or _INVENTORY
        return of_key
