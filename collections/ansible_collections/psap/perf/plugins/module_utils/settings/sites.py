"""A site as files: the variables that its inventory, group_vars and host_vars give to a host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.settings.files import YamlFile
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import BASE, HOST, SITE, Layer, layer
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import Entry
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project

_SUFFIXES = ("", ".yml", ".yaml", ".json")


@dataclass(slots=True)
class _Inventory:
    """What a site's inventory files say: parents of each group, groups of each host, and their inline variables."""

    depth: dict[str, int] = field(default_factory=lambda: {"all": 0})
    parents: dict[str, set[str]] = field(default_factory=dict)
    groups_of_host: dict[str, set[str]] = field(default_factory=dict)
    group_entries: dict[str, list[Entry]] = field(default_factory=dict)
    host_entries: dict[str, list[Entry]] = field(default_factory=dict)

    def groups_of(self, host: str) -> list[str]:
        """The groups of *host* without ``all``, in Ansible's order: by depth, then by name."""
        found: set[str] = set()
        waiting = list(self.groups_of_host.get(host, ()))
        while waiting:
            group = waiting.pop()
            if group not in found and group != "all":
                found.add(group)
                waiting.extend(self.parents.get(group, ()))
        return sorted(found, key=lambda group: (self.depth.get(group, 1), group))


def site_path(project: Project, site: str) -> Path:
    """The folder or file of *site*: a name below ``inventories``, or a path.

    :raises UsageError: when there is neither.
    """
    if site in project.sites:
        return project.sites[site]
    path = Path(site) if Path(site).is_absolute() else project.root / site
    if not path.exists():
        known = ", ".join(project.sites) or "none"
        raise UsageError(
            f"there is no site {site}{did_you_mean(site, project.sites)}; the sites in inventories/ are {known}"
        )
    return path


def site_layers(project: Project, site: str | None, host: str) -> list[Layer]:
    """The layers below the presets for *host*, low to high: the project's group_vars, the site's, its host_vars.

    The order of group layers is that of ``precedence`` in ansible.cfg.
    """
    base = project.root / "playbooks"
    base = base if (base / "group_vars").exists() else project.root
    layers = [_files(project, BASE, base / "group_vars", "all")]
    inventory, folder = _Inventory(), None
    if site is not None:
        folder = site_path(project, site)
        inventory = _read_inventory(project, folder)
        folder = folder if folder.is_dir() else folder.parent
        layers.append(layer(SITE, inventory.group_entries.get("all", [])))
        layers.append(_files(project, SITE, folder / "group_vars", "all"))
    groups = inventory.groups_of(host)
    layers += [_files(project, BASE, base / "group_vars", group) for group in groups]
    layers += [layer(SITE, inventory.group_entries.get(group, [])) for group in groups]
    if folder is not None:
        layers += [_files(project, SITE, folder / "group_vars", group) for group in groups]
        layers.append(layer(HOST, inventory.host_entries.get(host, [])))
        layers.append(_files(project, HOST, folder / "host_vars", host))
    return [one for one in layers if one.assignments]


def inventory_entries(project: Project, path: Path) -> list[Entry]:
    """Every variable that the inventory files of a site set themselves, for groups and for hosts.

    :raises UsageError: for an inventory that cannot be read.
    """
    inventory = _read_inventory(project, path)
    tables = (inventory.group_entries, inventory.host_entries)
    return [entry for table in tables for entries in table.values() for entry in entries]


def vars_files_below(folder: Path) -> list[list[Path]]:
    """The files of each group or host of a ``group_vars`` or ``host_vars`` folder."""
    if not folder.is_dir():
        return []
    return [vars_files(folder, name) for name in sorted({path.name.partition(".")[0] for path in folder.iterdir()})]


def hosts_of(project: Project, site: str) -> tuple[str, ...]:
    """The hosts that the inventory of *site* names, and localhost."""
    inventory = _read_inventory(project, site_path(project, site))
    return tuple(sorted({"localhost", *inventory.groups_of_host, *inventory.host_entries}))


def names_all_hosts(project: Project, site: str) -> bool:
    """Whether the files of *site* say all its hosts: an INI file, a script or a plugin may bring others."""
    path = site_path(project, site)
    files = [path] if path.is_file() else [found for found in path.iterdir() if found.is_file()]
    readable = inventory_files(path)
    return len(readable) == len(files) and not any("plugin" in project.read(file).data for file in readable)


def vars_files(folder: Path, name: str) -> list[Path]:
    """The files of ``group_vars/<name>``, a file or a folder, in Ansible's order."""
    for suffix in _SUFFIXES:
        path = folder / f"{name}{suffix}"
        if path.is_dir():
            return list(_files_below(path))
        if path.is_file():
            return [path]
    return []


def _files_below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name.endswith("~"):
            continue
        if path.is_dir() and not path.suffix:
            yield from _files_below(path)
        elif path.is_file() and path.suffix in _SUFFIXES:
            yield path


def _files(project: Project, kind: str, folder: Path, name: str) -> Layer:
    files = [project.read(path.resolve()) for path in vars_files(folder, name)]
    return layer(kind, [entry for file in files for entry in entries_of(file)])


def entries_of(file: YamlFile) -> Iterator[Entry]:
    """The variables of a vars file."""
    for key, value in file.data.items():
        yield Entry(str(key), value, file.where(key))


def inventory_files(path: Path) -> list[Path]:
    """The YAML files of an inventory, in Ansible's order; scripts and INI files say nothing here."""
    files = [path] if path.is_file() else sorted(found for found in path.iterdir() if found.is_file())
    return [file for file in files if file.suffix in (".yml", ".yaml")]


def _read_inventory(project: Project, path: Path) -> _Inventory:
    inventory = _Inventory()
    for source in inventory_files(path):
        file = project.read(source)
        if "plugin" in file.data:
            continue
        for group, body in file.data.items():
            parent = () if group == "all" else ("all",)
            _read_group(inventory, file, (str(group),), body or {}, parent)
    return inventory


def _read_group(
    inventory: _Inventory, file: YamlFile, path: tuple[str, ...], body: Any, parents: tuple[str, ...]
) -> None:
    name = path[-1]
    inventory.parents.setdefault(name, set()).update(parents)
    deepest = max((inventory.depth.get(parent, 0) for parent in parents), default=-1)
    inventory.depth[name] = max(inventory.depth.get(name, 0), deepest + 1)
    if not isinstance(body, Mapping):
        raise UsageError(f"{file.where(*path)}: the group {name} must be a mapping with hosts, vars or children")
    for key, value in (body.get("vars") or {}).items():
        entry = Entry(str(key), value, file.where(*path, "vars", key))
        inventory.group_entries.setdefault(name, []).append(entry)
    for host, variables in (body.get("hosts") or {}).items():
        inventory.groups_of_host.setdefault(str(host), set()).add(name)
        for key, value in (variables or {}).items():
            entry = Entry(str(key), value, file.where(*path, "hosts", host, key))
            inventory.host_entries.setdefault(str(host), []).append(entry)
    for child, child_body in (body.get("children") or {}).items():
        _read_group(inventory, file, (*path, "children", str(child)), child_body or {}, (name,))
