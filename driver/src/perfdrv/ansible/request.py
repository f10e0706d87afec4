"""What is to be run, and what one call of ansible-playbook needs, as data."""

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
    """One run, or a part of it that has an ansible-playbook of its own.

    Attributes:
        flow: its name, or `toolbox` for a single command.
        playbook: usually that of the flow.
        runs_root: where a new run gets its directory.
        run_directory: of a run that goes on, or that has been made; None stands for a new one below `runs_root`.
        extra_vars: what follows each `-e`, in order.
        presets: names, for a run.json that Ansible did not come to write.
        environment: variables beside those of the user that Ansible gets.
        grace: seconds that the finalizers have after a first request to stop; None for as long as they take.
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
        """The run's directory, which is there before Ansible is called; the collection's callback writes into it."""
        if self.run_directory is None:
            raise ValueError("the run has no directory yet")
        return self.run_directory

    @property
    def recorded_site(self) -> str | None:
        """The name of the site below inventories/, or the whole path of another one."""
        known = self.inventory is None or self.site in self.project.content().sites
        return self.site if known else str(self.inventory)

    def wants(self, tag: str) -> bool:
        """Whether the tags that were given choose the plays with this one."""
        chosen = not self.tags or tag in self.tags or "all" in self.tags
        return chosen and tag not in self.skip_tags

    def arguments(self, folder: Path) -> list[str]:
        """The arguments of ansible-playbook.

        Args:
            folder: where extra vars become files, since all users of a machine see the arguments of its processes.
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
        """The whole environment of the process."""
        # without one of its own Ansible takes the inventory of the site that ansible.cfg names
        inventory = self.inventory or self.project.content().sites.get(self.site or "")
        secrets = secrets_referred_to(self.project.root, inventory, self.extra_vars)
        return clean_environment(self.project.root, self.directory, secrets=secrets) | dict(self.environment)


def _written(extra: str, folder: Path) -> Path:
    """The file with an extra var, named so that the collection takes its values for those of the command line."""
    text = extra if extra.lstrip().startswith("{") else json_vars(_pairs(extra))
    path = folder / "env" / "extravars"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def _pairs(text: str) -> dict[str, Any]:
    """What Ansible makes of `K=V K=V`."""
    from ansible.parsing.splitter import parse_kv

    found: dict[str, Any] = parse_kv(text)
    return found


def json_vars(values: Mapping[str, Any]) -> str:
    """Extra vars as one JSON document: an int stays an int, and a text needs no quoting."""
    return json.dumps(dict(values), ensure_ascii=False)


def preset_vars(names: Sequence[str]) -> str:
    """The extra var that announces presets, in their order."""
    return json_vars({"perf_presets": list(names)})
