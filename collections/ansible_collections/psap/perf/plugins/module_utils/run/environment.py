"""What the process that runs a playbook hands to its workers, and a driver to it, through the environment."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

RUN_DIRECTORY = "PERF_RUN_DIR"
ATTEMPT = "PERF_RUN_ATTEMPT"
CELL = "PERF_RUN_CELL"
PARENT = "PERF_RUN_PARENT"
# set where a driver holds the attempt, of which this Ansible is a part
JOINED = "PERF_RUN_JOINED"
PROJECT = "PERF_PROJECT_DIR"
INVENTORY = "PERF_INVENTORY_SOURCES"


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """Where this process works.

    :param attempt: the number of the run's present attempt.
    :param cell: index of the cell that this process runs alone; its directory is the run directory then.
    :param parent: id of the run that a cell belongs to.
    :param inventory: the inventory sources given to ansible-playbook.
    """

    directory: Path
    attempt: int
    cell: int | None
    parent: str | None
    project: Path
    inventory: tuple[str, ...]

    @classmethod
    def read(cls) -> RunEnvironment:
        """From the environment.

        :raises UsageError: when the callback that fills it in is not enabled.
        """
        directory = os.environ.get(RUN_DIRECTORY)
        if not directory:
            raise UsageError(
                "no run directory: run from the project's folder, set ANSIBLE_CONFIG to its ansible.cfg, or "
                "give your own, below [defaults], callbacks_enabled = psap.perf.run_directory and "
                "vars_plugins_enabled = host_group_vars, psap.perf.presets"
            )
        cell = os.environ.get(CELL)
        return cls(
            directory=Path(directory),
            attempt=int(os.environ.get(ATTEMPT, "1")),
            cell=int(cell) if cell else None,
            parent=os.environ.get(PARENT) or None,
            project=Path(os.environ.get(PROJECT) or Path.cwd()),
            inventory=tuple(json.loads(os.environ.get(INVENTORY, "[]"))),
        )

    @property
    def run(self) -> str:
        """The ID of the run; that of the whole run in the process of one cell."""
        return self.parent or self.directory.name

    @property
    def root(self) -> Path:
        """The directory of the whole run, which is that of the parent for a cell of its own process."""
        around = (each for each in self.directory.parents if each.name == self.parent)
        return next(around, self.directory)

    def write(self) -> None:
        """To the environment, for the workers that are forked from here on."""
        values = {
            RUN_DIRECTORY: str(self.directory),
            ATTEMPT: str(self.attempt),
            CELL: "" if self.cell is None else str(self.cell),
            PARENT: self.parent or "",
            PROJECT: str(self.project),
            INVENTORY: json.dumps(self.inventory),
        }
        os.environ.update(values)
