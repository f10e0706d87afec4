# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.awx_job import AwxJob
from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import (
    FACT,
    ExportSettings,
    export_fact,
    export_run,
)
from ansible_collections.psap.perf.plugins.module_utils.run.directory import RUN_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.environment import JOINED, RunEnvironment
from ansible_collections.psap.perf.plugins.module_utils.run.failures import ending, failures_of
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import remembered_values
from ansible_collections.psap.perf.plugins.modules.export import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


class ActionModule(PerfAction):
    """Send the run directory to an S3 store."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def perform(self, context: VerbContext) -> VerbResult:
        """Export the run; a failure of the export is a warning, and does not fail the run."""
        settings = context.arguments(ExportSettings)
        if not settings.to:
            return VerbResult(skipped="export_to is empty")
        if os.environ.get(JOINED) or RunEnvironment.read().parent:
            return VerbResult(skipped="the driver exports the run after its report")
        try:
            fact = _export(context, settings)
        except PerfError as error:
            fact = export_fact(None, settings.to, utc_now(), error)
            # AWX deletes the files with the job
            again = "" if AwxJob.read(context.variables) else f"; try again with: perfdrv export {context.run}"
            why = f"the run was not exported: {error}{again}"
            return VerbResult(values={"run_facts": {FACT: context.redactor.redact(fact)}}, warnings=(why,))
        return VerbResult(values={"run_facts": {FACT: fact}})

    def describe(self, context: VerbContext) -> str:
        """Return the destination."""
        return f"would export the run to {context.arguments(ExportSettings).to or 'nowhere'}"


def _export(context: VerbContext, settings: ExportSettings) -> dict[str, Any]:
    place, access, terms = settings.place(context.run), settings.access(context.secret), settings.terms()
    secrets = remembered_values(context.run_directory, context.vaulted)
    run = context.run_directory
    exported = export_run(run, _ended(run), place, access, terms, secrets, context.check_interrupted)
    return export_fact(exported, str(place), utc_now())


def _ended(run: Path) -> dict[str, Any]:
    """Return ``run.json`` as it will be when the playbook has ended."""
    document, now = read_json(run / RUN_FILE), utc_now()
    status, exit_code, reason = ending(failures_of(run, RunEnvironment.read().attempt))
    attempts = [dict(attempt) for attempt in document.get("attempts", [])]
    for attempt in attempts[-1:]:
        attempt.update(ended=now, status=status)
    return {
        **document,
        "status": status,
        "exit_code": exit_code,
        "reason": reason,
        "ended": now,
        "attempts": attempts,
    }
