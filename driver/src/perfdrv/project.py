"""A project: its flows, presets, sites and runs."""

from __future__ import annotations

import configparser
import functools
import os
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.run.directory import runs_root
from ansible_collections.psap.perf.plugins.module_utils.run.phases import TOOLBOX_FLOW
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project as Content

from perfdrv.errors import UsageError, unknown


@dataclass(frozen=True)
class Project:
    """A project by its root; `content()` reads its declarations."""

    root: Path

    def content(self) -> Content:
        """Return the project's flows, commands, presets and sites; each file is read once, on first use."""
        return self._content

    @functools.cached_property
    def _content(self) -> Content:
        return Content(self.root)

    def flow(self, name: str) -> str:
        """Return the name of a flow, if it exists.

        Raises:
            UsageError: There is no such flow.
        """
        known = self.content().flows
        if name not in known:
            raise UsageError(unknown("flow", name, known, "perfdrv flows"))
        return name

    def playbook(self, flow: str) -> Path:
        """Return the playbook of a flow.

        Raises:
            UsageError: There is no such flow, or it has no playbook.
        """
        if flow != TOOLBOX_FLOW:
            self.flow(flow)
        path = self.content().playbook(flow)
        if path is None:
            missing = self.root / "playbooks" / f"{flow}.yml"
            raise UsageError(f"flow {flow} has settings but no playbook: {missing} is missing")
        return path

    def preset(self, name: str) -> str:
        """Return the name of a preset, if it exists.

        Raises:
            UsageError: There is no such preset.
        """
        known = self.content().presets
        if name not in known:
            raise UsageError(unknown("preset", name, known, "perfdrv settings presets"))
        return name

    def inventory(self, site: str) -> Path:
        """Return the absolute path of a site's inventory.

        Args:
            site: Its name below inventories/, or a path.

        Raises:
            UsageError: There is no such inventory.
        """
        sites = self.content().sites
        path = sites.get(site) or Path(site).expanduser()
        if not path.exists():
            raise UsageError(unknown("site", site, sites, "ls inventories; or pass a path"))
        return path.absolute()

    def default_site(self) -> str | None:
        """Return the site in ansible.cfg, which is used if none is given.

        Raises:
            UsageError: The file cannot be read.
        """
        config = configparser.ConfigParser(interpolation=None)
        try:
            config.read(self.root / "ansible.cfg", encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError, OSError) as error:
            raise UsageError(f"cannot read {shown_path(self.root / 'ansible.cfg')}: {error}") from error
        inventory = config.get("defaults", "inventory", fallback="")
        return Path(inventory).name or None

    def runs_root(self, given: Path | None = None) -> Path:
        """Return the folder of all runs: the one given, PERF_RUNS_DIR, or runs/ of the project."""
        return given.expanduser().absolute() if given is not None else runs_root(self.root)


def shown_path(path: Path) -> str:
    """Return a path as the user would type it: relative if it is below the working directory."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
