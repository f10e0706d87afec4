"""`perfdrv runs list|show|open|finalize`."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from perfdrv.command_line.completion import complete_runs
from perfdrv.command_line.groups import SuggestingGroup
from perfdrv.command_line.session import current_project, current_runs_root, runs_dir_option
from perfdrv.command_line.tables import print_table
from perfdrv.errors import UsageError
from perfdrv.execution.after_run import EndedRun, load_hooks
from perfdrv.execution.finalize import finalize
from perfdrv.project import shown_path
from perfdrv.runs.store import find_run, list_runs, read_entry
from perfdrv.runs.tree import RunTree, abandoned
from perfdrv.views.description import run_details, run_row, run_summary, step_document
from perfdrv.views.ending import conclude

# environment variables of programs that can open a page
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
_RUN_HELP = "RUN is an id, the beginning of an id, a path, or `latest`."
runs = SuggestingGroup("runs", help="List, show, open and finalize runs.", no_args_is_help=True)
_run_argument = click.argument("run", default="latest", shell_complete=complete_runs)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@runs.command("list")
@runs_dir_option
@_as_json
@click.option("--status", help="List only runs with this status.")
@click.option("--flow", help="List only runs of this flow.")
@click.option("-n", "--last", type=click.IntRange(min=1), help="List only the last N runs.")
@click.pass_context
def list_command(
    ctx: click.Context, runs_dir: Path | None, as_json: bool, status: str | None, flow: str | None, last: int | None
) -> None:
    """List the runs, oldest first."""
    root = current_runs_root(ctx, runs_dir)

    entries = [
        entry
        for entry in list_runs(root)
        if status in (None, entry.status) and flow in (None, entry.document.get("flow"))
    ]
    entries = entries[-last:] if last else entries
    if as_json:
        click.echo(json.dumps([run_summary(entry) for entry in entries], indent=2))
    else:
        headings = ("run", "status", "verdict", "started", "took", "reason")
        print_table(headings, map(run_row, entries), empty=f"No {'such ' if status or flow else ''}runs in {root}.")


@runs.command("show", epilog=_RUN_HELP)
@_run_argument
@runs_dir_option
@_as_json
@click.pass_context
def show_command(ctx: click.Context, run: str, runs_dir: Path | None, as_json: bool) -> None:
    """Show a run: its status, its commands, and the first failure."""
    root = current_runs_root(ctx, runs_dir)

    directory = find_run(root, run)
    entry = read_entry(directory)
    steps = RunTree(directory).steps()
    if entry.status != "running":
        steps = tuple(map(abandoned, steps))
    if as_json:
        document: dict[str, Any] = run_summary(entry) | {"steps": [step_document(step, directory) for step in steps]}
        click.echo(json.dumps(document, indent=2))
    else:
        run_details(entry, steps)


@runs.command("open", epilog=_RUN_HELP)
@_run_argument
@runs_dir_option
@click.option("--print", "only_print", is_flag=True, help="Print the path instead of opening it.")
@click.pass_context
def open_command(ctx: click.Context, run: str, runs_dir: Path | None, only_print: bool) -> None:
    """Open the report of a run, or its folder if it has no report."""
    root = current_runs_root(ctx, runs_dir)

    directory = find_run(root, run)
    report = directory / "report" / "index.html"
    path = report if report.is_file() else directory
    click.echo(shown_path(path))
    if only_print:
        return
    if sys.platform == "linux" and not any(os.environ.get(name) for name in _DISPLAYS):
        click.echo("no display to open the report on: copy it to a machine that has one", err=True)
    elif click.launch(str(path)) != 0:
        raise UsageError(f"no program opened {path}: open it yourself, or use --print")


@runs.command("finalize", epilog=_RUN_HELP, short_help="Run the finalizers of an interrupted run.")
@click.argument("run", shell_complete=complete_runs)
@runs_dir_option
@click.option("verbosity", "-v", "--verbose", count=True, help="Show Ansible's output.")
@click.pass_context
def finalize_command(ctx: click.Context, run: str, runs_dir: Path | None, verbosity: int) -> int:
    """Run the finalizers of an interrupted run: capture its state, clean up, and record how it ended."""
    project = current_project(ctx)
    root = current_runs_root(ctx, runs_dir)
    after_run = load_hooks()
    started = time.monotonic()
    entry = read_entry(find_run(root, run))
    outcome = finalize(project, entry, verbosity)
    code = conclude(outcome, f"finalizing {entry.id}", time.monotonic() - started, report_wanted=True)
    return after_run(EndedRun(outcome.directory, code, finalized=True))
