"""`perfdrv ci run|step|arguments|secrets`: a flow as a job of a CI system."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_yaml
from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import parse_reference, resolve
from ansible_collections.psap.perf.plugins.module_utils.settings.secret_states import WRONG, states
from ansible_collections.psap.perf.plugins.module_utils.settings.static import effective
from perfanalysis.files.local_path import LocalPath
from perfdrv.ansible.request import RunRequest
from perfdrv.ansible.sites import read_site
from perfdrv.command_line.completion import complete_flows
from perfdrv.command_line.groups import SuggestingGroup
from perfdrv.command_line.run_options import (
    OrderedCommand,
    RunOptions,
    extra_vars_of,
    jobs_option,
    layer_options,
    preset_names,
    presets_and_pairs,
    together,
)
from perfdrv.command_line.session import current_project
from perfdrv.command_line.tables import print_table, value_text
from perfdrv.errors import EXIT_OK, EXIT_USAGE, UsageError
from perfdrv.project import Project

from perfci.arguments.applying import agreed_target, extra_var, read_arguments, remarks, require_valid, rows
from perfci.arguments.choosing import JobArguments
from perfci.github import Access, pull_request_of
from perfci.jobs.detection import detect
from perfci.jobs.job import Job
from perfci.jobs.performing import Plan, require_room, run_all_steps, run_step
from perfci.jobs.session import JobSession, carry_out
from perfci.jobs.state import JobState, digest, read_state
from perfci.jobs.steps import NAMES, STEPS, Choice, step_named
from perfci.notifying.ending import notify, notify_refusal

_EPILOG = (
    "ARTIFACT_DIR is the folder of the artifacts, SHARED_DIR the folder that all steps share; by default those of the "
    "CI system. See docs/ci.md for the CI systems and the files of a job."
)
ci = SuggestingGroup("ci", help="Run a flow as a job of a CI system.", no_args_is_help=True, epilog=_EPILOG)
_steps = click.Choice(NAMES)
_job_options = together(
    [
        layer_options,
        click.option("--skip", multiple=True, type=_steps, help="Skip this step; repeatable."),
        click.option("--only", multiple=True, type=_steps, help="Run only this step; repeatable."),
        jobs_option,
        click.option("-v", "--verbose", "verbosity", count=True, help="Show Ansible's output."),
    ]
)


@ci.command("run", cls=OrderedCommand, epilog=_EPILOG, short_help="Run a flow as one job.")
@click.argument("flow", required=False, shell_complete=complete_flows)
@_job_options
@click.pass_context
def run_command(ctx: click.Context, /, flow: str | None, **_params: Any) -> int:
    """Run FLOW as one job: clean up on request, prepare, test, clean up, report, export, send notifications.

    In a presubmit, the pull request can set arguments, and the flow if none is given here.

    SIGTERM stops the job after its finalizers. Its files are written before the CI system sends SIGKILL.
    """
    project = current_project(ctx)
    system, job = detect()
    require_room(job)

    def perform(session: JobSession) -> int:
        with _notifying(ctx, project, session, of_refusal=True):
            return run_all_steps(_plan(ctx, project, job, session, first=True), session)

    return carry_out(system, job, _words("run", flow), perform)


@ci.command(
    "step",
    cls=OrderedCommand,
    short_help="Run one step of a job.",
    epilog="\n\n".join(["\b\n" + "\n".join(f"{step.name:<14}{step.help}" for step in STEPS), _EPILOG]),
)
@click.argument("step", type=_steps)
@click.argument("flow", required=False, shell_complete=complete_flows)
@_job_options
@click.pass_context
def step_command(ctx: click.Context, /, step: str, flow: str | None, **_params: Any) -> int:
    """Run one STEP of a job that runs FLOW in several processes or containers.

    Pass the same flow and settings to all steps of a job; they work on one run. After a failed step, test does not run
    and ends with the exit code of that step; post_cleanup, plots and export run. post_cleanup and export send
    notifications.
    """
    project = current_project(ctx)
    system, job = detect()

    def perform(session: JobSession) -> int:
        asked = step_named(step)
        with _notifying(ctx, project, session, of_refusal=asked.tag == CLEANUP):
            return run_step(_plan(ctx, project, job, session, first=read_state(job) is None), asked, session)

    return carry_out(system, job, _words(f"step {step}", flow), perform)


@ci.command("arguments", cls=OrderedCommand, short_help="Show the arguments of a pull request.")
@click.option("--pull", metavar="URL", help="Pull request. [default: the CI job's]")
@click.option("--test", "test", metavar="NAME", help="Job that `/test NAME` requests. [default: the CI job]")
@click.option("--list", "only_list", is_flag=True, help="List the settings that a pull request can set.")
@click.option(
    "--write",
    "written",
    type=LocalPath(dir_okay=False),
    help="Write the arguments to this file too, for -e perf_pull_arguments=FILE.",
)
@layer_options
@click.pass_context
def arguments_command(
    ctx: click.Context, /, pull: str | None, test: str | None, only_list: bool, written: Path | None, **_layers: Any
) -> int:
    """Show the arguments that a pull request sets, and the problems in them."""
    project = current_project(ctx)
    if only_list:
        options = [option for option in project.content().every_setting if option.pull_request]
        print_table(
            ("setting", "type", "description"), [(each.name, each.type, each.help) for each in options], empty=""
        )
        return EXIT_OK
    _system, job = detect()
    named = pull_request_of(pull) if pull else job.pull
    if named is None:
        raise UsageError("no pull request: this is not a job of one; pass --pull URL")
    settings = _settings_of(project, RunOptions.of(ctx), "github_")
    found = read_arguments(project, named, test or job.test, Access.of(settings), settings)
    shown = [(what, value_text(value), place) for what, value, place in rows(found)]
    print_table(("argument", "value", "from"), shown, empty=f"{named.url} sets no arguments of {test or job.test}.")
    for remark in found.remarks:
        click.echo(remark)
    for problem in found.problems:
        click.echo(f"Error: {problem}", err=True)
    if written is not None and not found.problems:
        write_yaml(written.absolute(), found.pull.document())
    return EXIT_USAGE if found.problems else EXIT_OK


@ci.command("secrets", cls=OrderedCommand, short_help="Show the secrets of a flow.")
@click.argument("flow", shell_complete=complete_flows)
@layer_options
@click.pass_context
def secrets_command(ctx: click.Context, /, flow: str, **_layers: Any) -> int:
    """Show the secrets of FLOW: purpose, format, location, and problems.

    No secret is printed. Only Ansible reads secrets of a vault; it checks them in the first play.
    """
    project = current_project(ctx)
    given = RunOptions.of(ctx)
    presets, pairs = presets_and_pairs(given, project)
    site = read_site(project, given.site)
    known = effective(project.content(), project.flow(flow), site.layers_of(), presets, pairs)
    values = {name: one.value for name, one in known.items()}
    found = list(states(project.content().settings_of(flow), values, lambda text: resolve(parse_reference(text))))
    rows = [(one.name, one.form, one.reference, one.problem or one.status, one.description) for one in found]
    print_table(("secret", "format", "location", "status", "description"), rows, empty=f"Flow {flow} has no secrets.")
    wrong = [one for one in found if one.status == WRONG]
    if wrong:
        click.echo(f"problems found: {len(wrong)}", err=True)
    return EXIT_USAGE if wrong else EXIT_OK


@contextmanager
def _notifying(ctx: click.Context, project: Project, session: JobSession, *, of_refusal: bool) -> Iterator[None]:
    """Send notifications after the block, if its step sends them; a lost notification does not fail the job.

    Args:
        of_refusal: Whether a job that is refused before its run is notified too.
    """
    why = ""
    try:
        yield
        why = session.why
    except UsageError as error:
        why = str(error)
        raise
    finally:
        if session.run is not None and session.sends_notifications:
            notify(session.run, session.job)
        elif session.run is None and of_refusal and why:
            settings = _settings_of(project, RunOptions.of(ctx), "notify_", "github_")
            notify_refusal(settings, session.job, session.redact(why))


def _words(command: str, flow: str | None) -> str:
    return f"perfdrv ci {command} {flow or ''}".rstrip()


def _plan(ctx: click.Context, project: Project, job: Job, session: JobSession, *, first: bool) -> Plan:
    """Return the plan of the command line and of the pull request.

    Args:
        first: Whether this is the first step of the job, which reads the arguments of the pull request.

    Raises:
        UsageError: An option or an argument of the pull request is invalid, or there is no such flow.
    """
    given, params = RunOptions.of(ctx), ctx.params
    own = extra_vars_of(given, project)
    found = _arguments_of(project, given, job, session) if first else JobArguments()
    flow, site = agreed_target(found, params["flow"], given.site)
    state = None if first else read_state(job)
    flow, site = (flow, site) if state is None else (flow or state.flow, site or state.site)
    if not flow:
        raise UsageError(
            "no flow: name one, or add /project FLOW to the pull request; list the flows with: perfdrv flows"
        )
    request = RunRequest(
        project=project,
        flow=project.flow(flow),
        playbook=project.playbook(flow),
        runs_root=job.artifacts,
        extra_vars=(*own, *extra_var(found, job.artifacts)),
        inventory=project.inventory(site) if site else None,
        site=site or project.default_site(),
        verbosity=given.verbosity,
        presets=(*preset_names(given, project), *(name for name, _where in found.pull.presets)),
    )
    state = JobState(
        build=job.identity,
        flow=flow,
        site=site,
        given=digest([flow, *own]),
        choice=Choice.of(params["skip"], params["only"]).with_those_of(found.choice),
    )
    return Plan(state, request, params["jobs"], remarks(found))


def _arguments_of(project: Project, given: RunOptions, job: Job, session: JobSession) -> JobArguments:
    """Return the arguments of a presubmit's pull request; a rehearsal's pull request is in another repository."""
    if job.kind != "presubmit" or job.pull is None:
        return JobArguments()
    settings = _settings_of(project, given, "github_")
    access = Access.of(settings)
    session.hide(*access.secrets)
    found = read_arguments(project, job.pull, job.test, access, settings)
    session.remarks = remarks(found)
    for each in session.remarks:
        click.echo(each)
    return require_valid(found)


def _settings_of(project: Project, given: RunOptions, *prefixes: str) -> dict[str, Any]:
    """Return the values of the settings whose names begin with a prefix."""
    presets, pairs = presets_and_pairs(given, project)
    known = effective(project.content(), None, read_site(project, given.site).layers_of(), presets, pairs)
    return {name: one.value for name, one in known.items() if name.startswith(prefixes)}
