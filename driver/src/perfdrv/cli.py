"""The root of `perfdrv`: a table of commands, each imported when it is used."""

from __future__ import annotations

from pathlib import Path

import click
from perfanalysis.files.local_path import LocalPath

from perfdrv.command_line.groups import Lazy, LazyGroup, Session

COMMANDS = {
    "run": Lazy("perfdrv.commands.run:run", "Run a flow."),
    "toolbox": Lazy("perfdrv.commands.toolbox:toolbox", "Run one command of the toolbox."),
    "quads": Lazy("perfdrv.commands.toolbox:quads", "Book bare metal of QUADS: perfdrv toolbox quads."),
    "settings": Lazy("perfdrv.commands.settings:settings", "Show, explain and check settings and presets."),
    "flows": Lazy("perfdrv.commands.catalogue:flows", "List the flows."),
    "commands": Lazy("perfdrv.commands.catalogue:commands", "List the commands of the toolbox."),
    "new": Lazy("perfdrv.commands.new:new", "Create a flow, a command or a KPI."),
    "ci": Lazy("perfdrv.commands.ci:ci", "Run a flow as a job of a CI system."),
    "runs": Lazy("perfdrv.commands.runs:runs", "List, show, open and finalize runs.", of_any=True),
    "lock": Lazy("perfdrv.commands.lock:lock", "Show and break the lease of a cluster."),
    "report": Lazy("perfdrv.commands.report:report", "Make the report of a run.", of_any=True),
    "export": Lazy("perfdrv.commands.export:export_command", "Export a run to an S3 store.", of_any=True),
    "notify": Lazy("perfdrv.commands.notify:notify_command", "Tell people what came of a run.", of_any=True),
    "replot": Lazy("perfdrv.commands.replot:replot_command", "Make the plots of exported runs again.", of_any=True),
    "lab": Lazy("perflab.cli:lab", "Create and delete Kubernetes labs with simulated GPU nodes.", in_project=False),
    "completion": Lazy(
        "perfdrv.commands.completion:completion", "Print the completion script of a shell.", in_project=False
    ),
}


def _print_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"perfdrv {version('psap-perf')}")
        ctx.exit()


def _remember_project(ctx: click.Context, _param: click.Parameter, value: Path | None) -> None:
    ctx.ensure_object(Session).project = value


def _remember_debug(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    ctx.ensure_object(Session).debug = value


cli = LazyGroup(
    "perfdrv",
    COMMANDS,
    help="Performance and scale tests of AI workloads on Kubernetes and OpenShift.",
)
cli.context_settings = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
cli.params += [
    click.Option(
        ["--project"],
        type=LocalPath(file_okay=False),
        expose_value=False,
        callback=_remember_project,
        is_eager=True,
        help="The project's folder; by default found upward from the working directory.",
    ),
    click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        callback=_remember_debug,
        is_eager=True,
        help="Show the traceback of an error.",
    ),
    click.Option(
        ["--version"],
        is_flag=True,
        expose_value=False,
        callback=_print_version,
        is_eager=True,
        help="Show the version.",
    ),
]
