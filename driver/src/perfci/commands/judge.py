"""`perfdrv judge RUN`."""

from __future__ import annotations

import os
from pathlib import Path

import click
from perfdrv.command_line.completion import complete_runs
from perfdrv.command_line.session import current_runs_root, runs_dir_option
from perfdrv.errors import UsageError
from perfdrv.runs.store import find_run

from perfci.jobs.detection import detect
from perfci.judging.ending import names_history


@click.command("judge")
@click.argument("run", default="latest", shell_complete=complete_runs)
@click.option("--history", metavar="SOURCE", help="Folder, s3://BUCKET/PREFIX or URL. [default: history_source]")
@click.option("--push", type=click.Choice(["never", "success", "always"]), help="Runs to add. [default: history_push]")
@click.option(
    "--acknowledged", metavar="FILE", help="YAML file of acknowledged changes. [default: regress_acknowledged]"
)
@runs_dir_option
@click.pass_context
def judge_command(
    ctx: click.Context,
    /,
    run: str,
    history: str | None,
    push: str | None,
    acknowledged: str | None,
    runs_dir: Path | None,
) -> int:
    """Judge RUN by its history and add it: an id, the beginning of an id, a path, or `latest`.

    The run's settings history_… and regress_… configure it. Judging again pushes nothing twice.

    \b
    Exit codes: 0 ok, 4 a KPI is worse, 5 data incomplete, 6 too little history, each if regress_fails includes it;
    1 the history was lost and history_required is set.
    """
    directory = find_run(current_runs_root(ctx, runs_dir), run)
    given = {"history_source": history, "history_push": push, "regress_acknowledged": acknowledged}
    known = {name: value for name, value in given.items() if value}
    if not history and not names_history(directory):
        raise UsageError(f"no history for {directory.name}: pass --history SOURCE, or set history_source")
    _system, job = detect(os.environ)
    from perfci.judging.judge import judge

    return judge(directory, job.tests_pull_request, known).exit_code
