# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load_check import (
    check_load,
    fewest_workloads,
    pods_of,
)
from ansible_collections.psap.perf.plugins.modules.scale_test.check_load import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.scale_test import found_file
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec

_ROLE = Path(__file__).resolve().parents[3] / "roles" / "scale_test_submit"


class ActionModule(PerfAction):
    """Refuse what only the submission would find, before anything is touched."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Check the settings in every cell."""
        cells = [cell["values"] for cell in context.args["cells"]]
        check_load(
            context.args["settings"],
            cells,
            lambda folder, named: found_file(self._found, folder, named),
            self._arguments(context),
            context.check_interrupted,
        )
        pods = pods_of(context.args["settings"], cells)
        workloads = fewest_workloads(context.args["settings"], cells)
        return VerbResult(values={"pods": [[asdict(kind) for kind in cell] for cell in pods], "workloads": workloads})

    def _arguments(self, context: VerbContext) -> dict[str, Any]:
        """The variables of templates that no setting has, as the command has them."""
        defaults = self._loader.load_from_file(str(_ROLE / "defaults" / "main.yml"))
        names = {name: f"{_ROLE.name}_{name}" for name in ("node_selector", "tolerations", "run_as_user")}
        return {name: context.variables.get(argument, defaults[argument]) for name, argument in names.items()}

    def _found(self, folder: str, named: str) -> str:
        """Where the command will find it: there the search begins in its role."""
        places = [str(_ROLE), str(_ROLE / "tasks")]
        return str(self._loader.path_dwim_relative_stack(places, folder, named))
