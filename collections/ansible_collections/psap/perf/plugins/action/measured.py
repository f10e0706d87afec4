# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.run.directory import RUN_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.measured import FACT, decision_of, only_cleans_up
from ansible_collections.psap.perf.plugins.modules.measured import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    facts: tuple[str, ...]


class ActionModule(PerfAction):
    """Find an earlier run of the history with the same facts."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Return the decision of an earlier attempt, or make it."""
        args = context.arguments(Arguments)
        if not args.facts or only_cleans_up(read_json(context.run_directory / RUN_FILE)):
            return VerbResult(values={"known": False, "why": ""})
        decision = decision_of(context.run_directory, args.facts)
        values = {"known": bool(decision["measured_by"]), "why": decision["why"], "run_facts": {FACT: decision}}
        return VerbResult(values=values)
