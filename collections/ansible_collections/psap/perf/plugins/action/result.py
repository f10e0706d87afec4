# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.exporting.manifest import INDEX
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Access, Place
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import FACT
from ansible_collections.psap.perf.plugins.module_utils.run.directory import RUN_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.environment import RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.failures import ending, failures_of
from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, PREPARE, TEST
from ansible_collections.psap.perf.plugins.modules.result import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments:
    endpoint: str
    region: str


class ActionModule(PerfAction):
    """Return the result of the run."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Read it from the run directory."""
        args = context.arguments(Arguments)
        document = read_json(context.run_directory / RUN_FILE)
        status, exit_code, reason = ending(failures_of(context.run_directory, RunEnvironment.read().attempt))
        export = document.get(FACT) or {}
        exported = export.get("to") if export.get("status") == "ok" else None
        access = Access(args.endpoint, args.region)
        result: dict[str, Any] = {
            "run": context.run,
            "flow": document.get("flow"),
            "verdict": status,
            "exit_code": exit_code,
            "reason": "" if reason is None else ": ".join(filter(None, (reason["what"], reason["why"]))),
            "export": exported or "",
            "report_url": access.url(Place.parse(exported), INDEX) if exported else "",
        }
        step = _step((document.get("tags") or {}).get("run") or ())
        return VerbResult(values={"stats": {f"perf_result_{step}": result}})


def _step(tags: Collection[str]) -> str:
    """Return the step that the tags of the run select; ``run`` for a whole flow."""
    steps = [step for step in (PREPARE, TEST, CLEANUP) if step in tags]
    return steps[0] if len(steps) == 1 else "run"
