"""One task on a host of the site, without a playbook and a run."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perfdrv.ansible.environment import clean_environment
from perfdrv.ansible.private_directory import private_directory
from perfdrv.errors import DriverError
from perfdrv.project import Project

SUTEST = "sutest"


class TaskError(DriverError):
    """The task failed."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def run_task(
    project: Project, inventory: Path | None, verb: str, arguments: Mapping[str, Any], host: str = SUTEST
) -> dict[str, Any]:
    """Run a verb or module of the collection on a host of the site, and return its result.

    Raises:
        TaskError: The task failed; the error has its message and exit code.
    """
    site = ["-i", str(inventory)] if inventory is not None else []
    command = ["ansible", host, *site, "-m", f"psap.perf.{verb}", "-a", json.dumps(dict(arguments))]
    with private_directory() as private:
        # the verb needs a run directory, into which it writes nothing
        environment = clean_environment(project.root, private.path) | private.variables()
        done = subprocess.run(  # noqa: S603 - Ansible's own program
            command,
            cwd=project.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    head, found, answer = done.stdout.partition(" => ")
    if not found:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise TaskError(
            f"Ansible ran no task on {host}: {lines[-1].removeprefix('[WARNING]: ') if lines else 'no message'}", 1
        )
    result: dict[str, Any] = json.loads(answer)
    if "SUCCESS" not in head and "CHANGED" not in head:
        raise TaskError(str(result.get("msg", "no message")), int(result.get("exit_code") or 1))
    return result
