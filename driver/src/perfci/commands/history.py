"""`perfdrv history site HISTORY`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import SCHEME, Access
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import ExportSettings
from perfanalysis.files.documents import Document
from perfanalysis.files.findings import print_findings
from perfanalysis.verdicts.site.commands import (
    HistorySource,
    Source,
    link_by,
    link_to,
    make_site,
    oldest_first,
    site_options,
)
from perfdrv.command_line.groups import SuggestingGroup
from perfdrv.command_line.session import current_runs_root, runs_dir_option
from perfdrv.project import shown_path

from perfci.commands.store_options import given_store, store_options
from perfci.exporting.sites import REPORTS, export_site
from perfci.judging.settings import HistorySettings
from perfci.judging.sources import StoreSource, source_of

history = SuggestingGroup("history", help="Show the results of many runs.", no_args_is_help=True)


@dataclass(frozen=True, slots=True)
class _StoredHistory:
    """A history in an S3 store."""

    source: StoreSource

    @property
    def title(self) -> str:
        """Return the name of its folder."""
        return self.source.place.name

    def documents(self) -> Iterator[Document]:
        """Yield its runs, oldest first; print on stderr what was left out."""
        found = [self.source.pull(flow) for flow in self.source.flows()]
        print_findings(each for one in found for each in one.findings)
        yield from oldest_first(each for one in found for each in one.documents)


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
    """Write one page over all runs of HISTORY: a folder, the URL of an OpenSearch, or s3://BUCKET/PREFIX.

    The page shows every KPI of every test over time, with verdicts, versions and filters. It opens from disk, without
    a server, and is scrubbed. It links to the reports of the runs: those in the folder of all runs, or with s3:// those
    below the same prefix.
    """
    given = given_store({**params, "to": to})
    settings = ExportSettings.of({f"export_{name}": value for name, value in given.items()})
    of_store = source_of(HistorySettings(history, store=settings)) if history.startswith(f"{SCHEME}://") else None
    source: Source = HistorySource(history, prefix, ca_file)
    if isinstance(of_store, StoreSource):
        source = _StoredHistory(of_store)
    if not to.startswith(f"{SCHEME}://"):
        folder = Path(to).expanduser()
        link = link_by(reports) if reports else link_to(current_runs_root(ctx, runs_dir), folder)
        click.echo(f"page    {shown_path(make_site(source, folder, link, rules))}")
        return
    settings.place()
    with tempfile.TemporaryDirectory(prefix="psap-perf-site-") as folder_name:
        page = make_site(source, Path(folder_name), link_by(reports or REPORTS), rules)
        place = export_site(Path(folder_name), source.title, settings).place
        click.echo(f"export  {place}")
        click.echo(f"page    {Access(settings.endpoint, settings.region).url(place, page.name)}")
