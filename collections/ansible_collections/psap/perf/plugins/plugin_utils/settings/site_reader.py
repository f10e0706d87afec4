"""Reads a site with ansible-core's inventory manager, without a play and without decrypting anything."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import AnsibleVaultError, EncryptedString
from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.files import VAULTED, Where
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import Layer
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import Assignment, Entry
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.site import LOCALHOST, Site
from ansible_collections.psap.perf.plugins.plugin_utils.settings.inventory_layers import InventoryLayers


class _Loader(DataLoader):  # type: ignore[misc]  # ansible-core has no types
    """Reads a file that ansible-vault encrypted as an empty one: only a run has the password."""

    def load_from_file(self, *arguments: Any, **options: Any) -> Any:
        """Return the document of a file; empty for an encrypted file."""
        try:
            return super().load_from_file(*arguments, **options)
        except AnsibleVaultError:
            return {}


def read_site(root: Path, inventory: str | None) -> Site:
    """Return the hosts of an inventory and the layers below their presets.

    Args:
        root: The project, whose ansible.cfg must be in force.
        inventory: A file or folder; ansible.cfg's if empty, and none if None.
    """
    loader = _Loader()
    loader.set_basedir(str(Project(root).folders("playbooks")[0]))
    sources = [] if inventory is None else [inventory] if inventory else constants.DEFAULT_HOST_LIST
    with contextlib.redirect_stderr(io.StringIO()) as warnings:
        try:
            return _site(root, loader, InventoryManager(loader, sources=sources))
        except (AnsibleError, UsageError) as error:
            # the error names the inventory only; each plugin's reason is a warning
            return Site(problem=f"{error}\n{warnings.getvalue()}".strip())


def _site(root: Path, loader: DataLoader, inventory: InventoryManager) -> Site:
    layers = InventoryLayers(root, loader)
    layers.all_group = inventory.groups["all"]
    layers.hosts = dict(inventory.hosts) | {LOCALHOST: inventory.get_host(LOCALHOST)}
    for source in inventory._sources:
        folder = Path(source) if Path(source).is_dir() else Path(source).parent
        if str(folder) not in layers.folders:
            layers.folders.append(str(folder))
    return Site(
        hosts={name: _plain_layers(layers, host) for name, host in layers.hosts.items()},
        inline=tuple(
            Entry(entry.key, _plain(entry.value), _untagged(entry.where))
            for entity in (*inventory.groups.values(), *inventory.hosts.values())
            for entry in layers.entries(entity.vars)
        ),
        vars_files=tuple(tuple(map(str, files)) for files in layers.vars_files()),
    )


def _plain_layers(layers: InventoryLayers, host: Any) -> tuple[Layer, ...]:
    """Return the layers of *host* that set something, without Ansible's tags."""
    return tuple(
        Layer(one.kind, tuple(map(_plain_assignment, assigned)))
        for one in layers.of(host)
        if (assigned := one.assignments)
    )


def _plain_assignment(one: Assignment) -> Assignment:
    return replace(one, value=_plain(one.value), where=_untagged(one.where))


def _untagged(where: Where) -> Where:
    return Where(where.label, where.line)


def _plain(value: Any) -> Any:
    if isinstance(value, EncryptedString):
        return VAULTED
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else plain(value)
