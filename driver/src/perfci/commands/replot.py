"""`perfdrv replot RUN…`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.exporting.manifest import INDEX
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Access
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import ExportSettings
from perfanalysis.files.local_path import LocalPath
from perfdrv.command_line.completion import complete_runs
from perfdrv.command_line.session import current_runs_root, runs_dir_option
from perfdrv.errors import UsageError
from perfdrv.project import shown_path

from perfci.commands.store_options import given_store, store_options
from perfci.exporting.replots import default_cache, export_plots, replot, sources_in


@click.command("replot")
@click.argument("sources", metavar="RUN…", nargs=-1, shell_complete=complete_runs)
@click.option("--from-file", "listed", type=LocalPath(dir_okay=False), help="File with more runs, one per line.")
@click.option("--to", help="Export the plots to the folder plots of s3://BUCKET/PREFIX.")
@store_options
@click.option(
    "--cache", type=LocalPath(file_okay=False), help="Folder for fetched runs. [default: psap-perf/exports in ~/.cache]"
)
@runs_dir_option
@click.pass_context
def replot_command(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    listed: Path | None,
    cache: Path | None,
    runs_dir: Path | None,
    **params: Any,
) -> int:
    """Plot runs again with the current code, and compare several with the first.

    A RUN is s3://BUCKET/…/ID, the URL of an export, or a local run. Fetched files are verified and cached. No cluster
    is needed. The exit code is the one for the first run that cannot be fetched or is damaged.
    """
    wanted = [*sources, *(sources_in(listed) if listed else ())]
    if not wanted:
        raise UsageError("no run: name s3://BUCKET/PREFIX/ID, a URL or an id, or pass a list of runs with --from-file")
    settings = ExportSettings.of({f"export_{name}": value for name, value in given_store(params).items()})
    done = replot(wanted, current_runs_root(ctx, runs_dir), settings, cache or default_cache(), click.echo)
    click.echo(f"plots   {shown_path(done.directory)}")
    if done.comparison:
        click.echo(f"compare {shown_path(done.comparison)}")
    elif done.not_compared:
        click.echo(f"compare failed: {done.not_compared}", err=True)
    if settings.to:
        place = export_plots(done, settings).place
        click.echo(f"export  {place}")
        click.echo(f"page    {Access(settings.endpoint, settings.region).url(place, INDEX)}")
    return done.exit_code
