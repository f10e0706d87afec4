"""Finalizing a killed run: its cleanup, as a new attempt in the same directory."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.run.directory import (
    REPORT_FOLDER,
    RUN_FILE,
    end_attempt,
    is_full,
    last_written,
    make_room,
    update_run,
)
from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, CONCLUDE

from perfdrv.ansible.private_directory import private_directory
from perfdrv.ansible.request import RunRequest
from perfdrv.errors import EXIT_INTERRUPTED, EXIT_OK, UsageError
from perfdrv.execution.launch import Attempt, launch_attempt
from perfdrv.execution.resume import require_at_rest, resume_vars
from perfdrv.project import Project
from perfdrv.runs.outcome import Outcome, read_outcome
from perfdrv.runs.store import RunEntry, former_site, read_entry
from perfdrv.runs.tree import RunTree

_NEVER_ENDED = {
    "what": "the run was killed",
    "where": "found by perfdrv runs finalize",
    "directory": None,
}

_NOT_NOTED = {"what": "no space is left for the run's directory, so this attempt is not recorded"}


def finalize(project: Project, entry: RunEntry, verbosity: int) -> Outcome:
    """Run the finalizers of a run's flow with the settings of that run.

    The run keeps its status, because finalizing completes no test. A run without recorded settings changed nothing, so
    only its end is recorded. On a full disk, the finalizers run in a temporary copy of the directory.

    Raises:
        UsageError: A process holds the run.
    """
    require_at_rest(entry.directory)
    make_room(entry.directory)
    if is_full(entry.directory):
        return _finalize_copy(project, entry, verbosity)
    flow = str(entry.document.get("flow", ""))
    before = _record_end(entry)
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
        extra_vars=(resume_vars(entry.directory),),
        inventory=project.inventory(site) if site else None,
        site=site or project.default_site(),
        tags=(CLEANUP, CONCLUDE),
        verbosity=verbosity,
    )

    def clean_up(attempt: Attempt) -> Outcome:
        # if this attempt is killed, the run keeps the reason of its first failure
        attempt.record({"reason": before.reason})
        return attempt.join(tags=request.tags)

    def keep(outcome: Outcome) -> Mapping[str, Any]:
        former = before.document()
        return {**former, "finalized": utc_now()} if outcome.status == "ok" else former

    return launch_attempt(request, clean_up, keep)


def finalize_on_full_disk(request: RunRequest, outcome: Outcome) -> None:
    """Run the finalizers of a run again that failed on a full disk, where they may have failed too."""
    if outcome.status == "failed" and request.wants(CLEANUP) and not request.check and is_full(outcome.directory):
        finalize(request.project, read_entry(outcome.directory), request.verbosity)


def _finalize_copy(project: Project, entry: RunEntry, verbosity: int) -> Outcome:
    """Finalize a temporary copy of the run's directory without its results."""
    with private_directory() as private:
        copy = private.path / entry.id
        shutil.copytree(
            entry.directory, copy, ignore=shutil.ignore_patterns("artifacts", REPORT_FOLDER, "*.log", "stop")
        )
        if is_full(copy):
            raise UsageError(f"no space is left for {entry.id} and for temporary files: free space, or set TMPDIR")
        outcome = finalize(project, read_entry(copy), verbosity)
    return replace(outcome, directory=entry.directory, reason=outcome.reason or _NOT_NOTED)


def _record_end(entry: RunEntry) -> Outcome:
    """Return the outcome of the run; the missing end of a killed run is recorded."""
    own_processes = [step.directory for step in RunTree(entry.directory).steps() if step.kind == "cell"]
    for directory in (*own_processes, entry.directory):
        if (directory / RUN_FILE).is_file() and read_json(directory / RUN_FILE).get("ended") is None:
            end_attempt(directory, "interrupted", EXIT_INTERRUPTED, _NEVER_ENDED, ended=last_written(directory))
    return read_outcome(entry.directory)
