"""What one call of ansible-playbook needs, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfdrv.environment import clean_environment


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One call of ansible-playbook.

    Attributes:
        extra_vars: what follows each `-e`, in order.
        run_directory: exists already; the collection's callback writes into it.
    """

    project: Path
    playbook: Path
    run_directory: Path
    extra_vars: tuple[str, ...] = ()
    inventory: Path | None = None
    tags: tuple[str, ...] = ()
    skip_tags: tuple[str, ...] = ()
    check: bool = False
    diff: bool = False
    verbosity: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)

    def arguments(self) -> list[str]:
        """The arguments of ansible-playbook."""
        words: list[str] = []
        if self.inventory is not None:
            words += ["-i", str(self.inventory)]
        for extra in self.extra_vars:
            words += ["-e", extra]
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
        return clean_environment(self.project, self.run_directory) | dict(self.environment)


def json_vars(values: Mapping[str, Any]) -> str:
    """Extra vars as one JSON document: an int stays an int, and a text needs no quoting."""
    return json.dumps(dict(values), ensure_ascii=False)


def preset_vars(names: Sequence[str]) -> str:
    """The extra var that announces presets, in their order."""
    return json_vars({"perf_presets": list(names)})
