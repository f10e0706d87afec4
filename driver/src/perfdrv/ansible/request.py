"""The request for a run, and its conversion to a call of ansible-playbook."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfdrv.ansible.environment import clean_environment, secrets_referred_to
from perfdrv.project import Project


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A run, or a part of it that is one call of ansible-playbook.

    Attributes:
        flow: Its name, or `toolbox` for a single command.
        playbook: Usually the flow's playbook.
        runs_root: The folder in which a new run gets its directory.
        run_directory: Directory of an existing run; None for a new one below `runs_root`.
        extra_vars: What follows each `-e`, in order.
        presets: Names, for a run.json that Ansible did not write.
        environment: Variables for Ansible in addition to the user's.
        grace: Seconds for the finalizers after the first request to stop; None for no limit.
    """

    project: Project
    flow: str
    playbook: Path
    runs_root: Path
    run_directory: Path | None = None
    extra_vars: tuple[str, ...] = ()
    inventory: Path | None = None
    site: str | None = None
    tags: tuple[str, ...] = ()
    skip_tags: tuple[str, ...] = ()
    check: bool = False
    diff: bool = False
    verbosity: int = 0
    presets: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    grace: float | None = None

    @property
    def directory(self) -> Path:
        """The run's directory, which exists before Ansible is called; the collection's callback writes into it."""
        if self.run_directory is None:
            raise ValueError("the run has no directory yet")
        return self.run_directory

    @property
    def recorded_site(self) -> str | None:
        """The name of the site below inventories/, or the whole path of any other one."""
        known = self.inventory is None or self.site in self.project.content().sites
        return self.site if known else str(self.inventory)

    def wants(self, tag: str) -> bool:
        """Return whether the tags of the request select the plays with this tag."""
        chosen = not self.tags or tag in self.tags or "all" in self.tags
        return chosen and tag not in self.skip_tags

    def arguments(self, folder: Path) -> list[str]:
        """Return the arguments of ansible-playbook.

        Args:
            folder: For files of extra vars, because every user of the machine can list arguments of processes.
        """
        words: list[str] = []
        if self.inventory is not None:
            words += ["-i", str(self.inventory)]
        for number, extra in enumerate(self.extra_vars):
            words += ["-e", extra if extra.startswith("@") else f"@{_written(extra, folder / str(number))}"]
        if self.tags:
            words += ["--tags", ",".join(self.tags)]
        if self.skip_tags:
            words += ["--skip-tags", ",".join(self.skip_tags)]
        words += ["--check"] * self.check + ["--diff"] * self.diff
        if self.verbosity:
            words.append("-" + "v" * self.verbosity)
        return [*words, str(self.playbook)]

    def process_environment(self) -> dict[str, str]:
        """Return the environment of the process."""
        # without an option, Ansible uses the inventory of the site in ansible.cfg
        inventory = self.inventory or self.project.content().sites.get(self.site or "")
        secrets = secrets_referred_to(self.project.root, inventory, self.extra_vars)
        return clean_environment(self.project.root, self.directory, secrets=secrets) | dict(self.environment)


def _written(extra: str, folder: Path) -> Path:
    """Write an extra var to a file; by its name, the collection recognizes the values as the command line's."""
    text = extra if extra.lstrip().startswith("{") else json_vars(key_values(extra))
    path = folder / "env" / "extravars"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def key_values(text: str) -> dict[str, Any]:
    """Return the variables in `K=V K=V`, as Ansible reads them."""
    from ansible.parsing.splitter import parse_kv

    found: dict[str, Any] = parse_kv(text)
    return found


def json_vars(values: Mapping[str, Any]) -> str:
    """Return extra vars as one JSON document: an int remains an int, and text needs no quotes."""
    return json.dumps(dict(values), ensure_ascii=False)


def preset_vars(names: Sequence[str]) -> str:
    """Return the extra var that names presets, in their order."""
    return json_vars({"perf_presets": list(names)})
