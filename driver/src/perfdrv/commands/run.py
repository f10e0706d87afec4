"""`perfdrv run`: a flow, from its settings to its report."""

from __future__ import annotations

import time
from typing import Any

import click

from perfdrv.ansible.request import RunRequest, json_vars
from perfdrv.command_line.completion import complete_flows, complete_runs
from perfdrv.command_line.profile import with_profile
from perfdrv.command_line.run_options import (
    OrderedCommand,
    RunOptions,
    extra_vars_of,
    jobs_option,
    preset_names,
    run_options,
    tag_words,
)
from perfdrv.command_line.session import current_project
from perfdrv.errors import UsageError
from perfdrv.execution.after_run import EndedRun, load_hooks
from perfdrv.execution.finalize import finalize_on_full_disk
from perfdrv.execution.resume import resume, start
from perfdrv.project import Project
from perfdrv.runs.store import find_run, former_site, read_entry
from perfdrv.views.ending import conclude


@click.command(cls=OrderedCommand, short_help="Run a flow.")
@click.argument("flow", required=False, shell_complete=complete_flows)
@run_options
@click.option("--tags", multiple=True, help="Run only the plays with one of these tags, such as prepare,test.")
@click.option("--skip-tags", multiple=True, help="Skip the plays with one of these tags.")
@click.option(
    "--resume",
    "resumed",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Resume an interrupted or failed run: a new attempt at the cells that are not complete.",
)
@click.option(
    "--replay",
    "replayed",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Start a new run with the settings of an earlier one.",
)
@jobs_option
@click.pass_context
def run(ctx: click.Context, /, jobs: int, resumed: str | None, replayed: str | None, **_params: Any) -> int:
    """Run FLOW: check the settings, clean up on request, prepare, test, clean up, report.

    The first Ctrl-C stops the run and runs its finalizers. The second Ctrl-C kills it immediately.

    \b
    Exit codes: 0 ok, 1 failed, 2 usage or settings, 3 cluster unreachable or unfit,
    4 threshold missed, 5 data quality, 6 too little history, 70 internal error, 130 interrupted.
    """
    project = current_project(ctx)
    given = RunOptions.of(ctx)
    if resumed and replayed:
        raise UsageError("--resume continues a run, --replay starts a new one with its settings: give one of them")
    after_run = load_hooks()
    started = time.monotonic()
    request = _request(project, given, ctx.params)
    outcome = start(request, jobs) if request.run_directory is None else resume(request, jobs)
    finalize_on_full_disk(request, outcome)
    code = conclude(outcome, request.flow, time.monotonic() - started, report_wanted=not given.check)
    return code if given.check else after_run(EndedRun(outcome.directory, code))


def _request(project: Project, given: RunOptions, params: dict[str, Any]) -> RunRequest:
    runs_root = project.runs_root(given.runs_directory)
    former = params["resumed"] or params["replayed"]
    earlier = read_entry(find_run(runs_root, former)) if former else None
    if earlier is not None and earlier.problem:
        raise UsageError(f"cannot determine the run's flow: {earlier.problem}; start a new run")
    flow = params["flow"] or (str(earlier.document.get("flow", "")) if earlier else "")
    if not flow:
        raise UsageError("no flow: name one, or a run with --resume or --replay; list the flows with: perfdrv flows")
    if earlier is None:
        given = with_profile(given, project, flow)
    extra_vars = extra_vars_of(given, project)
    if params["replayed"] and earlier:
        extra_vars = (json_vars({"perf_replay": str(earlier.directory)}), *extra_vars)
    if params["resumed"] and given.overrides:
        raise UsageError("a resumed run keeps its settings: omit -p, -s and -e, or start a new run with --replay")
    site = given.site or (former_site(project, earlier) if earlier else None)
    return RunRequest(
        project=project,
        flow=flow,
        playbook=project.playbook(flow),
        runs_root=runs_root,
        extra_vars=extra_vars,
        inventory=project.inventory(site) if site else None,
        site=site or project.default_site(),
        tags=tag_words(params["tags"]),
        skip_tags=tag_words(params["skip_tags"]),
        check=given.check,
        diff=given.diff,
        verbosity=given.verbosity,
        run_directory=earlier.directory if params["resumed"] and earlier else None,
        presets=preset_names(given, project),
    )
