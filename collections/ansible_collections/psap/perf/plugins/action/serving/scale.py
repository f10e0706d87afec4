# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import asdict, dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import open_cell
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import Cell
from ansible_collections.psap.perf.plugins.modules.serving.scale import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

_FILE = "kserve_scale.json"


@dataclass(frozen=True, slots=True)
class ServiceArguments:
    """The description of the service, for the record."""

    model: str
    runtime: str
    image: str
    answers_checked: bool


@dataclass(frozen=True, slots=True)
class Arguments:
    cell: Cell
    users: int
    users_as: str
    models_per_user: int
    start_interval: Seconds
    asked: ServiceArguments


class ActionModule(PerfAction):
    """Record the settings of a scale test of served models."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return the number of users."""
        return f"would write {_FILE} of {context.arguments(Arguments).users} users"

    def perform(self, context: VerbContext) -> VerbResult:
        """Write the document."""
        args, lab = context.arguments(Arguments), context.lab()
        directory = open_cell(RunEnvironment.read(), args.cell.index)
        document = {
            "schema": "psap.perf/kserve-scale/1",
            **asdict(args.asked),
            "users": args.users,
            "users_as": args.users_as,
            "models_per_user": args.models_per_user,
            "start_interval_s": args.start_interval,
            "started": utc_now(),
            "lab": lab.document() if lab else None,
        }
        write_json(directory / _FILE, document)
        return VerbResult(values={"at": document["started"]})
