# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import cells
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.modules.matrix import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """List the cells of a flow's matrix."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Multiply the dimensions."""
        options = Project(RunEnvironment.read().project).settings_of(context.args["flow"])
        spanning = [option for option in options if option.dimension]
        values: dict[str, Any] = {
            option.name: plain(context.variables[option.name])
            for option in spanning
            if option.name in context.variables
        }
        skip_if, experiments = (
            plain(context.variables.get(f"matrix_{name}") or []) for name in ("skip_if", "experiments")
        )
        found = cells(spanning, values, skip_if, experiments)
        only = context.variables.get("perf_cells")
        chosen = [cell for cell in found if only is None or cell.index in {int(index) for index in only}]
        return VerbResult(values={"cells": [asdict(cell) for cell in chosen]})
