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
from perfdrv.command_line.completion import complete_flows
from perfdrv.command_line.groups import SuggestingGroup
from perfdrv.command_line.run_options import (
    OrderedCommand,
    RunOptions,
    extra_vars_of,
    layer_options,
    preset_names,
    presets_and_pairs,
)
from perfdrv.command_line.session import current_project
from perfdrv.command_line.tables import print_table, value_text
from perfdrv.errors import EXIT_OK, EXIT_USAGE, UsageError
from perfdrv.project import Project

from perfci.arguments.applying import agreed, extra_var, read_arguments, remarks, require_sound, rows
from perfci.arguments.choosing import JobArguments
from perfci.github import Access, pull_request_of
from perfci.jobs.detection import detect
from perfci.jobs.job import Job
from perfci.jobs.performing import Plan, require_room, run_all_steps, run_step
from perfci.jobs.session import JobSession, carry_out
from perfci.jobs.state import JobState, digest, read_state
from perfci.jobs.steps import NAMES, STEPS, Choice, step_named
from perfci.notifying.ending import tell_of, tell_of_refusal

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
@click.argument("flow", required=False, shell_complete=complete_flows)
@layer_options
@_skip
@_only
@_jobs
@_verbose
@click.pass_context
def run_command(ctx: click.Context, /, flow: str | None, **_params: Any) -> int:
    """Run FLOW as one job: clean up on request, prepare, test, clean up, report, export, and tell people of it.

    In a presubmit the pull request may give arguments, and the flow where none is named here.

    SIGTERM stops it in order: its finalizers run, and its files are written before the grace of the CI system ends.
    """
    project = current_project(ctx)
    system, job = detect()
    require_room(job)

    def perform(session: JobSession) -> int:
        with _telling(ctx, project, session, of_refusal=True):
            return run_all_steps(_plan(ctx, project, job, session, first=True), session)

    return carry_out(system, job, _words("run", flow), perform)


@ci.command(
    "step",
    cls=OrderedCommand,
    epilog="\n\n".join(["\b\n" + "\n".join(f"{step.name:<14}{step.help}" for step in STEPS), _EPILOG]),
)
@click.argument("step", type=_steps)
@click.argument("flow", required=False, shell_complete=complete_flows)
@layer_options
@_skip
@_only
@_jobs
@_verbose
@click.pass_context
def step_command(ctx: click.Context, /, step: str, flow: str | None, **_params: Any) -> int:
    """Do one STEP of a job that runs FLOW in several processes, which may be containers of their own.

    All steps of a job are given the same flow and settings, and work on one run. After one that failed, test does not
    run, and ends with its exit code; post_cleanup, plots and export run. post_cleanup and export tell people of it.
    """
    project = current_project(ctx)
    system, job = detect()

    def perform(session: JobSession) -> int:
        asked = step_named(step)
        with _telling(ctx, project, session, of_refusal=asked.tag == CLEANUP):
            return run_step(_plan(ctx, project, job, session, first=read_state(job) is None), asked, session)

    return carry_out(system, job, _words(f"step {step}", flow), perform)


@ci.command("arguments", cls=OrderedCommand)
@click.option("--pull", metavar="URL", help="The pull request; that of the CI job by default.")
@click.option(
    "--test", "test", metavar="NAME", help="The job that `/test NAME` asks for; that of the CI job by default."
)
@click.option("--list", "only_list", is_flag=True, help="List the settings that a pull request can set.")
@click.option(
    "--write",
    "written",
    type=LocalPath(dir_okay=False),
    help="Write them into a file too, for -e perf_pull_arguments=FILE.",
)
@layer_options
@click.pass_context
def arguments_command(
    ctx: click.Context, /, pull: str | None, test: str | None, only_list: bool, written: Path | None, **_layers: Any
) -> int:
    """Show what the arguments of a pull request come to, and what is wrong with them."""
    project = current_project(ctx)
    if only_list:
        options = [option for option in project.content().every_setting if option.pull_request]
        print_table(
            ("setting", "type", "what it is"), [(each.name, each.type, each.help) for each in options], empty=""
        )
        return EXIT_OK
    _system, job = detect()
    named = pull_request_of(pull) if pull else job.pull
    if named is None:
        raise UsageError("This is no job of a pull request: name one with --pull URL.")
    settings = _settings_of(project, RunOptions.of(ctx), "github_")
    found = read_arguments(project, named, test or job.test, Access.of(settings), settings)
    shown = [(what, value_text(value), place) for what, value, place in rows(found)]
    print_table(("argument", "value", "from"), shown, empty=f"{named.url} gives no arguments to {test or job.test}.")
    for remark in found.remarks:
        click.echo(remark)
    for problem in found.problems:
        click.echo(f"Error: {problem}", err=True)
    if written is not None and not found.problems:
        write_yaml(written.absolute(), found.pull.document())
    return EXIT_USAGE if found.problems else EXIT_OK


@ci.command("secrets", cls=OrderedCommand)
@click.argument("flow", shell_complete=complete_flows)
@layer_options
@click.pass_context
def secrets_command(ctx: click.Context, /, flow: str, **_layers: Any) -> int:
    """Show the secrets of FLOW: what each is for, its format, where it is kept, and what is wrong with it.

    No secret is shown. Those of a vault are Ansible's to read, which checks them in the first play.
    """
    project = current_project(ctx)
    given = RunOptions.of(ctx)
    presets, pairs = presets_and_pairs(given, project)
    site = given.site or project.default_site()
    known = effective(project.content(), project.flow(flow), site, presets, pairs)
    values = {name: one.value for name, one in known.items()}
    found = list(states(project.content().settings_of(flow), values, lambda text: resolve(parse_reference(text))))
    rows = [(one.name, one.form, one.reference, one.problem or one.status, one.description) for one in found]
    print_table(("secret", "format", "kept in", "status", "what it is"), rows, empty=f"{flow} needs no secret.")
    wrong = [one for one in found if one.status == WRONG]
    if wrong:
        click.echo(f"{len(wrong)} to correct.", err=True)
    return EXIT_USAGE if wrong else EXIT_OK


@contextmanager
def _telling(ctx: click.Context, project: Project, session: JobSession, *, of_refusal: bool) -> Iterator[None]:
    """Tell people of the run of this block where it is the time to do it, which changes nothing of how it ends.

    Args:
        of_refusal: also where the job is refused and comes to no run.
    """
    why = ""
    try:
        yield
        why = session.why
    except UsageError as error:
        why = str(error)
        raise
    finally:
        if session.run is not None and session.to_tell:
            tell_of(session.run, session.job)
        elif session.run is None and of_refusal and why:
            settings = _settings_of(project, RunOptions.of(ctx), "notify_", "github_")
            tell_of_refusal(settings, session.job, session.redact(why))


def _words(command: str, flow: str | None) -> str:
    return f"perfdrv ci {command} {flow or ''}".rstrip()


def _plan(ctx: click.Context, project: Project, job: Job, session: JobSession, *, first: bool) -> Plan:
    """What the command line asks for, and the pull request, whose arguments the first step of a job reads.

    Raises:
        UsageError: an option or an argument of the pull request is wrong, or there is no such flow.
    """
    given, params = RunOptions.of(ctx), ctx.params
    own = extra_vars_of(given, project)
    found = _arguments_of(project, given, job, session) if first else JobArguments()
    flow, site = agreed(found, params["flow"], given.site)
    state = None if first else read_state(job)
    flow, site = (flow, site) if state is None else (flow or state.flow, site or state.site)
    if not flow:
        raise UsageError("Name a flow, or have the pull request name one: /project FLOW. The flows: perfdrv flows")
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
    """What the pull request of a presubmit says; a rehearsal's is one of another repository."""
    if job.kind != "presubmit" or job.pull is None:
        return JobArguments()
    settings = _settings_of(project, given, "github_")
    access = Access.of(settings)
    session.hide(*access.secrets)
    found = read_arguments(project, job.pull, job.test, access, settings)
    session.remarks = remarks(found)
    for each in session.remarks:
        click.echo(each)
    return require_sound(found)


def _settings_of(project: Project, given: RunOptions, *prefixes: str) -> dict[str, Any]:
    """Values of the settings whose names begin so, such as those that say how GitHub is reached."""
    presets, pairs = presets_and_pairs(given, project)
    site = given.site or project.default_site()
    known = effective(project.content(), None, site, presets, pairs)
    return {name: one.value for name, one in known.items() if name.startswith(prefixes)}
