"""The root of `perfdrv`: a table of commands, each imported when it is used, and those of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click
from perfanalysis.files.local_path import LocalPath

from perfdrv.command_line.groups import Lazy, LazyGroup, Session
from perfdrv.entry_points import load_entry_points

COMMANDS = {
    "init": Lazy("perfdrv.commands.init:init", "Create a project in a folder.", of_any=True),
    "demo": Lazy("perfdrv.commands.demo:demo", "Measure a lab with simulated GPU nodes.", of_any=True),
    "doctor": Lazy("perfdrv.commands.doctor:doctor", "Check this machine, the project and its cluster."),
    "run": Lazy("perfdrv.commands.run:run", "Run a flow."),
    "toolbox": Lazy("perfdrv.commands.toolbox:toolbox", "Run one command of the toolbox."),
    "quads": Lazy("perfdrv.commands.toolbox:quads", "Book bare-metal hosts in QUADS; same as: perfdrv toolbox quads."),
    "settings": Lazy("perfdrv.commands.settings:settings", "Show, explain and check settings and presets."),
    "flows": Lazy("perfdrv.commands.catalogue:flows", "List the flows."),
    "commands": Lazy("perfdrv.commands.catalogue:commands", "List the commands of the toolbox."),
    "new": Lazy("perfdrv.commands.new:new", "Create a flow, a command, a KPI or a package.", of_any=True),
    "runs": Lazy("perfdrv.commands.runs:runs", "List, show, open and finalize runs.", of_any=True),
    "generators": Lazy(
        "perfdrv.commands.generators:generators", "List, install and remove load generators.", of_any=True
    ),
    "lock": Lazy("perfdrv.commands.lock:lock", "Show or break the lock of a cluster or host."),
    "report": Lazy("perfdrv.commands.report:report", "Generate the report of a run.", of_any=True),
    "dashboards": Lazy("perfdrv.commands.dashboards:dashboards", "Write dashboards of Grafana from the query files."),
    "lab": Lazy("perflab.cli:lab", "Create and delete Kubernetes labs with simulated GPU nodes.", in_project=False),
    "completion": Lazy(
        "perfdrv.commands.completion:completion", "Print the completion script for a shell.", in_project=False
    ),
}
# tables like COMMANDS
GROUP = "perfdrv.commands"


def added_commands() -> dict[str, Lazy]:
    """Return the commands that other packages add by entry points.

    A command of `COMMANDS` hides an added one of its name. If several entry points add one name, it cannot be used.

    Raises:
        DriverError: An entry point cannot be loaded.
    """
    added: dict[str, Lazy] = {}
    origins: dict[str, str] = {}
    for point, table in load_entry_points(GROUP, Mapping).items():
        for name, entry in table.items():
            if name in COMMANDS:
                hidden = f"{COMMANDS[name].help} (Hides the command of the {point}.)"
                added[name] = replace(COMMANDS[name], help=hidden)
            elif name in origins:
                both = f"the {origins[name]} and the {point} add the command {name}; remove one of the packages"
                added[name] = replace(entry, help=both, problem=both)
            else:
                added[name], origins[name] = entry, point
    return added


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
    added=added_commands,
)
cli.context_settings = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
cli.params += [
    click.Option(
        ["--project"],
        type=LocalPath(file_okay=False),
        expose_value=False,
        callback=_remember_project,
        is_eager=True,
        help="Folder of the project. [default: the nearest project at or above the working directory]",
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
