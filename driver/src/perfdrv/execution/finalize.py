"""Finalizing a run that was killed: its cleanup, as a new attempt in the same directory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.run.directory import (
    RUN_FILE,
    end_attempt,
    last_written,
    update_run,
)

from perfdrv.ansible.request import CLEANUP, CONCLUDE, RunRequest, json_vars
from perfdrv.errors import EXIT_INTERRUPTED, EXIT_OK
from perfdrv.execution.launch import Attempt, launch_attempt
from perfdrv.execution.resume import require_at_rest
from perfdrv.project import Project
from perfdrv.runs.outcome import Outcome, read_outcome
from perfdrv.runs.store import RunEntry, former_site
from perfdrv.runs.tree import RunTree

_NEVER_ENDED = {
    "what": "the run was killed",
    "where": "found by perfdrv runs finalize",
    "directory": None,
}


def finalize(project: Project, entry: RunEntry, verbosity: int) -> Outcome:
    """Run the finalizers of a run's flow with the settings of that run.

    The run keeps the status it had: finalizing cleans up, it completes no test. A run that ended before its
    settings were known has touched nothing, so it is only brought to an end, which is all there is to do.

    Raises:
        UsageError: somebody still works on the run.
    """
    require_at_rest(entry.directory)
    flow = str(entry.document.get("flow", ""))
    before = _ended(entry)
    if not (entry.directory / "settings.yml").is_file():
        update_run(entry.directory, {"finalized": utc_now()})
        return Outcome(entry.directory, "ok", EXIT_OK)
    site = former_site(project, entry)
    request = RunRequest(
        project=project,
        flow=flow,
        playbook=project.playbook(flow),
        runs_root=entry.directory.parent,
        run_directory=entry.directory,
        extra_vars=(json_vars({"perf_replay": str(entry.directory)}),),
        inventory=project.inventory(site) if site else None,
        site=site or project.default_site(),
        tags=(CLEANUP, CONCLUDE),
        verbosity=verbosity,
    )

    def clean_up(attempt: Attempt) -> Outcome:
        # should this be killed, the run is one that was interrupted, and for the reason it had
        attempt.note({"reason": before.reason})
        return attempt.join(tags=request.tags)

    def keep(outcome: Outcome) -> Mapping[str, Any]:
        former = {"status": before.status, "exit_code": before.exit_code, "reason": before.reason}
        return {**former, "finalized": utc_now()} if outcome.status == "ok" else former

    return launch_attempt(request, clean_up, keep)


def _ended(entry: RunEntry) -> Outcome:
    """How the run ended; one that was killed is given the end that nobody wrote."""
    own_processes = [step.directory for step in RunTree(entry.directory).steps() if step.kind == "cell"]
    for directory in (*own_processes, entry.directory):
        if (directory / RUN_FILE).is_file() and read_json(directory / RUN_FILE).get("ended") is None:
            end_attempt(directory, "interrupted", EXIT_INTERRUPTED, _NEVER_ENDED, ended=last_written(directory))
    return read_outcome(entry.directory)
