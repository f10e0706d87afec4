"""Finalizing a run that was killed: its cleanup, as a new attempt in the same directory."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.run_directory import is_held

from perfdrv.errors import UsageError
from perfdrv.launch import Plan, launch
from perfdrv.outcome import Outcome
from perfdrv.project import Project
from perfdrv.request import json_vars
from perfdrv.store import RunEntry, former_site

TAGS = ("cleanup",)


def finalize(project: Project, runs_root: Path, entry: RunEntry, verbosity: int) -> Outcome:
    """Run the finalizers of a run's flow with the settings of that run.

    Raises:
        UsageError: somebody still works on the run.
    """
    if is_held(entry.directory):
        raise UsageError(f"{entry.id} is still running; stop it first (Ctrl-C where it was started).")
    flow = str(entry.document.get("flow", ""))
    site = former_site(project, entry)
    return launch(
        Plan(
            project=project,
            flow=flow,
            playbook=project.playbook(flow),
            runs_root=runs_root,
            extra_vars=(json_vars({"perf_replay": str(entry.directory), "perf_finalize": str(entry.directory)}),),
            inventory=project.inventory(site) if site else None,
            site=site,
            tags=TAGS,
            verbosity=verbosity,
            directory=entry.directory,
        )
    )
