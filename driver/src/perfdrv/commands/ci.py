"""`perfdrv ci run|step`: a flow as a job of a CI system."""

from __future__ import annotations

from typing import Any

import click

from perfdrv.ansible.request import RunRequest
from perfdrv.ci.detection import detect
from perfdrv.ci.job import Job
from perfdrv.ci.performing import Ongoing, Plan, carry_out, one_step, require_room, whole
from perfdrv.ci.state import JobState, digest
from perfdrv.ci.steps import NAMES, STEPS, Choice, step_named
from perfdrv.command_line.completion import complete_flows
from perfdrv.command_line.groups import SuggestingGroup
from perfdrv.command_line.run_options import Given, OrderedCommand, extra_vars_of, layer_options, preset_names
from perfdrv.command_line.session import current_project
from perfdrv.project import Project

_EPILOG = (
    "ARTIFACT_DIR is the folder of the artifacts, SHARED_DIR that which all steps see; by default those of the CI "
    "system. docs/ci.md says what each system is known by, and what a job leaves behind."
)
ci = SuggestingGroup("ci", help="Run a flow as a job of a CI system.", no_args_is_help=True, epilog=_EPILOG)
_steps = click.Choice(NAMES)
_skip = click.option("--skip", multiple=True, type=_steps, help="Leave out this step; repeat it.")
_only = click.option("--only", multiple=True, type=_steps, help="Do only this step; repeat it.")
_jobs = click.option(
    "--jobs", "-j", type=click.IntRange(min=1), default=1, show_default=True, help="Cells that run side by side."
)
_verbose = click.option("-v", "--verbose", "verbosity", count=True, help="Show Ansible's own output.")


@ci.command("run", cls=OrderedCommand, epilog=_EPILOG)
@click.argument("flow", shell_complete=complete_flows)
@layer_options
@_skip
@_only
@_jobs
@_verbose
@click.pass_context
def run_command(ctx: click.Context, /, flow: str, **_params: Any) -> int:
    """Run FLOW as one job: clean up on request, prepare, test, clean up, report.

    SIGTERM stops it in order: its finalizers run, and its files are written before the grace of the CI system ends.
    """
    project = current_project(ctx)
    system, job = detect()
    require_room(job)
    words = f"perfdrv ci run {flow}"
    return carry_out(system, job, words, lambda ongoing: whole(_plan(ctx, project, flow, job, words), ongoing))


@ci.command(
    "step",
    cls=OrderedCommand,
    epilog="\n\n".join(["\b\n" + "\n".join(f"{step.name:<14}{step.help}" for step in STEPS), _EPILOG]),
)
@click.argument("step", type=_steps)
@click.argument("flow", shell_complete=complete_flows)
@layer_options
@_skip
@_only
@_jobs
@_verbose
@click.pass_context
def step_command(ctx: click.Context, /, step: str, flow: str, **_params: Any) -> int:
    """Do one STEP of a job that runs FLOW in several processes, which may be containers of their own.

    All steps of a job are given the same flow and settings, and work on one run. After one that failed, test does not
    run, and ends with its exit code; post_cleanup and plots run.
    """
    project = current_project(ctx)
    system, job = detect()
    words = f"perfdrv ci step {step} {flow}"

    def perform(ongoing: Ongoing) -> int:
        return one_step(_plan(ctx, project, flow, job, words), step_named(step), ongoing)

    return carry_out(system, job, words, perform)


def _plan(ctx: click.Context, project: Project, flow: str, job: Job, words: str) -> Plan:
    """What the command line asks for.

    Raises:
        UsageError: an option is wrong, or there is no such flow.
    """
    given, params = Given.of(ctx), ctx.params
    extra_vars = extra_vars_of(given, project)
    request = RunRequest(
        project=project,
        flow=project.flow(flow),
        playbook=project.playbook(flow),
        runs_root=job.artifacts,
        extra_vars=extra_vars,
        inventory=project.inventory(given.site) if given.site else None,
        site=given.site or project.default_site(),
        verbosity=given.verbosity,
        presets=preset_names(given, project),
    )
    state = JobState(
        build=job.identity,
        flow=flow,
        site=given.site,
        given=digest([flow, *extra_vars]),
        choice=Choice.of(params["skip"], params["only"]),
    )
    return Plan(words, state, request, params["jobs"])
