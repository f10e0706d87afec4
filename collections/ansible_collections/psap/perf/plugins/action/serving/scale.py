# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds, utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain, write_json
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import open_cell
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.modules.serving.scale import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec

_FILE = "kserve_scale.json"


class ActionModule(PerfAction):
    """Record what a scale test asks for."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Say of how many."""
        return f"would write {_FILE} of {context.args['users']} users"

    def perform(self, context: VerbContext) -> VerbResult:
        """Write the document."""
        args, lab = context.args, context.lab()
        directory = open_cell(RunEnvironment.read(), args["cell"]["index"])
        document = {
            "schema": "psap.perf/kserve-scale/1",
            **plain(args["asked"]),
            "users": args["users"],
            "models_per_user": args["models_per_user"],
            "start_interval_s": seconds(args["start_interval"]),
            "started": utc_now(),
            "lab": lab.document() if lab else None,
        }
        write_json(directory / _FILE, document)
        return VerbResult(values={"at": document["started"]})
