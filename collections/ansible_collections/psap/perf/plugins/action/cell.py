# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import Interrupted
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import open_cell
from ansible_collections.psap.perf.plugins.module_utils.run.directory import STOP_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import Cell
from ansible_collections.psap.perf.plugins.modules.cell import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


class State(StrEnum):
    BEGUN = "begun"
    OK = "ok"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Arguments:
    cell: Cell
    state: State
    error: str | None


class ActionModule(PerfAction):
    """Keep ``cell.json`` up to date."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Write the state of the cell."""
        args = context.arguments(Arguments)
        cell, state = args.cell, args.state
        environment = RunEnvironment.read()
        if state is State.BEGUN:
            if _asked_to_stop(context):
                raise Interrupted(f"cell {cell.index} does not start: the run was asked to stop")
            _write_begun(open_cell(environment, cell.index), cell, environment.attempt)
            return VerbResult()
        path = open_cell(environment, cell.index) / "cell.json"
        if path.exists():
            interrupted = state is State.FAILED and _asked_to_stop(context)
            status = "interrupted" if interrupted else state.value
            write_json(path, {**read_json(path), "status": status, "ended": utc_now(), "error": args.error})
        return VerbResult()


def _asked_to_stop(context: VerbContext) -> bool:
    """Return whether the user asked the run to stop; the verb's watch reacts half a second later."""
    return context.interrupted.is_set() or (context.run_directory / STOP_FILE).exists()


def _write_begun(directory: Path, cell: Cell, attempt: int) -> None:
    document = {
        "schema": "psap.perf/cell/1",
        "index": cell.index,
        "name": cell.name,
        "values": cell.values,
        "status": "running",
        "attempt": attempt,
        "started": utc_now(),
        "ended": None,
        "error": None,
    }
    write_json(directory / "cell.json", document)
