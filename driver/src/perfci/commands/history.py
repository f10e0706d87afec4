"""`perfdrv history site HISTORY`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import SCHEME, Access
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import ExportSettings
from perfanalysis.verdicts.site.commands import HistorySource, link_by, link_to, make_site, site_options
from perfdrv.command_line.groups import SuggestingGroup
from perfdrv.command_line.session import current_runs_root, runs_dir_option
from perfdrv.project import shown_path

from perfci.commands.store_options import given_store, store_options
from perfci.exporting.sites import REPORTS, export_site

history = SuggestingGroup("history", help="Show the results of many runs.", no_args_is_help=True)


@history.command("site")
@site_options
@click.option("--to", required=True, help="Folder for the page, or s3://BUCKET/PREFIX for its folder site.")
@store_options
@runs_dir_option
@click.pass_context
def site_command(
    ctx: click.Context,
    /,
    history: str,
    prefix: str,
    ca_file: Path | None,
    reports: str | None,
    rules: Path | None,
    runs_dir: Path | None,
    to: str,
    **params: Any,
) -> None:
    """Write one page over all runs of HISTORY, a folder or the URL of an OpenSearch.

    The page shows every KPI of every test over time, with verdicts, versions and filters. It opens from disk, without
    a server, and is scrubbed. It links to the reports of the runs: those in the folder of all runs, or with s3:// those
    below the same prefix.
    """
    source = HistorySource(history, prefix, ca_file)
    if not to.startswith(f"{SCHEME}://"):
        folder = Path(to).expanduser()
        link = link_by(reports) if reports else link_to(current_runs_root(ctx, runs_dir), folder)
        click.echo(f"page    {shown_path(make_site(source, folder, link, rules))}")
        return
    settings = ExportSettings.of({f"export_{name}": value for name, value in given_store({**params, "to": to}).items()})
    settings.place()
    with tempfile.TemporaryDirectory(prefix="psap-perf-site-") as folder_name:
        page = make_site(source, Path(folder_name), link_by(reports or REPORTS), rules)
        place = export_site(Path(folder_name), source.title, settings).place
        click.echo(f"export  {place}")
        click.echo(f"page    {Access(settings.endpoint, settings.region).url(place, page.name)}")
