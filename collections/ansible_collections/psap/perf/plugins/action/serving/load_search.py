# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import open_cell
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.judging import judge_load
from ansible_collections.psap.perf.plugins.module_utils.serving.load_search import (
    Bounds,
    completed_loads,
    judge_new,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import Cell
from ansible_collections.psap.perf.plugins.modules.serving.load_search import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

_FILE = "load_search.json"


@dataclass(frozen=True, slots=True)
class Arguments:
    cell: Cell
    limits: Mapping[str, Any]
    lowest: int
    highest: int
    most_loads: int
    judged: Mapping[str, Mapping[str, Any]]


class ActionModule(PerfAction):
    """Choose the next load of a search, or record its result."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the bounds of the search."""
        args = context.arguments(Arguments)
        return f"would search the highest load within the limits, from {args.lowest} to {args.highest} users"

    def perform(self, context: VerbContext) -> VerbResult:
        """Judge the loads of the cell, and write the document when the search has ended."""
        args, environment, lab = context.arguments(Arguments), RunEnvironment.read(), context.lab()
        judged = judge_new(
            completed_loads(environment.root, args.cell.index),
            args.judged,
            lambda load: judge_load(load, args.limits),
        )
        loads = sorted(judged.values(), key=lambda load: int(load["users"]))
        bounds = Bounds(args.lowest, args.highest, args.most_loads)
        users = bounds.next_users({load["users"]: load["held"] for load in loads})
        if users is None:
            document = {
                "schema": "psap.perf/load-search/1",
                "lowest": args.lowest,
                "highest": args.highest,
                "most_loads": args.most_loads,
                "loads": loads,
                "lab": lab.document() if lab else None,
            }
            write_json(open_cell(environment, args.cell.index) / _FILE, document)
        return VerbResult(changed=users is None, values={"users": users or 0, "judged": judged})
