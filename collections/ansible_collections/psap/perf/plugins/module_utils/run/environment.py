"""The environment variables that a driver sets for the playbook's process, and that for its workers."""

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
# set if a driver holds the attempt that includes this Ansible process
JOINED = "PERF_RUN_JOINED"
PROJECT = "PERF_PROJECT_DIR"
INVENTORY = "PERF_INVENTORY_SOURCES"


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """The run and cell of this process.

    Attributes:
        attempt: Number of the run's present attempt.
        cell: Index of the cell that this process runs alone; its directory is the run directory then.
        parent: ID of the run that a cell belongs to.
        inventory: The inventory sources of ansible-playbook.
    """

    directory: Path
    attempt: int
    cell: int | None
    parent: str | None
    project: Path
    inventory: tuple[str, ...]

    @classmethod
    def read(cls) -> RunEnvironment:
        """Return the values of the environment.

        Raises:
            UsageError: If the callback that sets them is not enabled.
        """
        directory = os.environ.get(RUN_DIRECTORY)
        if not directory:
            raise UsageError(
                "no run directory: run from the project's folder, set ANSIBLE_CONFIG to its ansible.cfg, or "
                "add to your own, below [defaults], callbacks_enabled = psap.perf.run_directory and "
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
        """The ID of the run; in the process of one cell, the ID of the entire run."""
        return self.parent or self.directory.name

    @property
    def root(self) -> Path:
        """The directory of the entire run; in the process of one cell, the parent's directory."""
        around = (each for each in self.directory.parents if each.name == self.parent)
        return next(around, self.directory)

    def write(self) -> None:
        """Set the environment variables, for workers that are forked from now on."""
        values = {
            RUN_DIRECTORY: str(self.directory),
            ATTEMPT: str(self.attempt),
            CELL: "" if self.cell is None else str(self.cell),
            PARENT: self.parent or "",
            PROJECT: str(self.project),
            INVENTORY: json.dumps(self.inventory),
        }
        os.environ.update(values)
