"""The project directory that an invocation works on."""

from __future__ import annotations

import configparser
import difflib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from perfdrv.collection import COLLECTION, activate
from perfdrv.errors import UsageError

if TYPE_CHECKING:
    from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project as Content

TOOLBOX_FLOW = "toolbox"


@dataclass(frozen=True, slots=True)
class Project:
    """The root of a project; `content()` reads what is declared in it."""

    root: Path

    @classmethod
    def find(cls, start: Path | None = None, given: Path | None = None) -> Project:
        """Find the project upward from *start* (the working directory), or check the one *given*.

        Raises:
            UsageError: there is none.
        """
        if given is not None:
            if not is_project(given):
                needs = f"it needs ansible.cfg and {COLLECTION}"
                raise UsageError(f"{given} is no psap.perf project: {needs}. Give --project another folder.")
            return cls(given.resolve())
        origin = (start or Path.cwd()).resolve()
        for folder in (origin, *origin.parents):
            if is_project(folder):
                return cls(folder)
        raise UsageError(
            f"No psap.perf project at or above {origin}. Change into one, or name it: perfdrv --project DIR …"
        )

    def activate(self) -> None:
        """Make the project's collection importable in this process."""
        activate(self.root)

    def content(self) -> Content:
        """Flows, commands, presets and sites, each file read when it is asked for."""
        self.activate()
        from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project as Content

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
        """The site that ansible.cfg names, used when none is given."""
        config = configparser.ConfigParser(interpolation=None)
        config.read(self.root / "ansible.cfg", encoding="utf-8")
        inventory = config.get("defaults", "inventory", fallback="")
        return Path(inventory).name or None

    def runs_root(self, given: Path | None = None) -> Path:
        """The folder of all runs: the one *given*, PERF_RUNS_DIR, or runs/ of the project."""
        self.activate()
        from ansible_collections.psap.perf.plugins.module_utils.run.directory import runs_root

        return given.expanduser().absolute() if given is not None else runs_root(self.root)


def is_project(folder: Path) -> bool:
    """Whether a folder is the root of a project."""
    return (folder / "ansible.cfg").is_file() and (folder / COLLECTION).is_dir()


def unknown(what: str, name: str, known: Iterable[str], listing: str) -> str:
    """Say that a name is unknown, with the nearest known ones, or where to see all of them."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"See: {listing}"
    return f"Unknown {what} {name!r}. {hint}"


def shown_path(path: Path) -> str:
    """A path as the user would type it: relative to the working directory when it lies below."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
