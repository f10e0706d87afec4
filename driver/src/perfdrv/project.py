"""The project directory that an invocation works on."""

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
    """The root of a project; `content()` reads what is declared in it."""

    root: Path

    def content(self) -> Content:
        """Return the project's flows, commands, presets and sites; each file is read on first use, and only once."""
        return self._content

    @functools.cached_property
    def _content(self) -> Content:
        return Content(self.root)

    def flow(self, name: str) -> str:
        """The name of a flow that exists.

        Raises:
            UsageError: there is no such flow.
        """
        known = self.content().flows
        if name not in known:
            raise UsageError(unknown("flow", name, known, "perfdrv flows"))
        return name

    def playbook(self, flow: str) -> Path:
        """The playbook of a flow that exists.

        Raises:
            UsageError: there is no such flow.
        """
        path = self.root / "playbooks" / f"{flow}.yml"
        if flow != TOOLBOX_FLOW:
            self.flow(flow)
        if not path.is_file():
            raise UsageError(f"The flow {flow} has settings but no playbook: {path} is missing.")
        return path

    def preset(self, name: str) -> str:
        """The name of a preset that exists.

        Raises:
            UsageError: there is no such preset.
        """
        known = self.content().presets
        if name not in known:
            raise UsageError(unknown("preset", name, known, "perfdrv settings presets"))
        return name

    def inventory(self, site: str) -> Path:
        """The inventory of a site, given by its name below inventories/ or by a path.

        Raises:
            UsageError: neither exists.
        """
        sites = self.content().sites
        path = sites.get(site) or Path(site).expanduser()
        if not path.exists():
            raise UsageError(unknown("site", site, sites, "ls inventories; a path is taken too"))
        return path.absolute()

    def default_site(self) -> str | None:
        """The site that ansible.cfg names, used when none is given.

        Raises:
            UsageError: the file cannot be read.
        """
        config = configparser.ConfigParser(interpolation=None)
        try:
            config.read(self.root / "ansible.cfg", encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError, OSError) as error:
            raise UsageError(f"{shown_path(self.root / 'ansible.cfg')} cannot be read: {error}") from error
        inventory = config.get("defaults", "inventory", fallback="")
        return Path(inventory).name or None

    def runs_root(self, given: Path | None = None) -> Path:
        """The folder of all runs: the one *given*, PERF_RUNS_DIR, or runs/ of the project."""
        return given.expanduser().absolute() if given is not None else runs_root(self.root)


def shown_path(path: Path) -> str:
    """A path as the user would type it: relative to the working directory when it lies below."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
