# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.command_directory import open_group
from ansible_collections.psap.perf.plugins.module_utils.documents import read_json, write_json
from ansible_collections.psap.perf.plugins.module_utils.run_environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.module_utils.verb_documentation import argument_spec
from ansible_collections.psap.perf.plugins.modules.cell import DOCUMENTATION


class ActionModule(PerfAction):
    """Keep ``cell.json`` truthful."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Write what is now true of the cell."""
        cell, state = context.args["cell"], context.args["state"]
        environment = RunEnvironment.read()
        if state == "begun":
            context.check_interrupted()
            _write_begun(_directory(environment, cell["index"]), cell, environment.attempt)
            return VerbResult()
        path = _directory(environment, cell["index"]) / "cell.json"
        if path.exists():
            status = "interrupted" if state == "failed" and context.interrupted.is_set() else state
            write_json(path, {**read_json(path), "status": status, "ended": utc_now(), "error": context.args["error"]})
        return VerbResult()


def _directory(environment: RunEnvironment, index: int) -> Path:
    """A cell that is a process of its own has the whole run directory."""
    if environment.cell == index:
        return environment.directory
    return open_group(environment.directory, f"cell__{index}", environment.attempt)


def _write_begun(directory: Path, cell: dict[str, object], attempt: int) -> None:
    document = {
        "schema": "psap.perf/cell/1",
        "index": cell["index"],
        "name": cell["name"],
        "values": cell["values"],
        "status": "running",
        "attempt": attempt,
        "started": utc_now(),
        "ended": None,
        "error": None,
    }
    write_json(directory / "cell.json", document)
