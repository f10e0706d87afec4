"""The command `history site`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import quote, urlsplit

import click

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import Document
from perfanalysis.files.findings import Finding, print_findings
from perfanalysis.files.local_path import LocalPath
from perfanalysis.results.history.folder import documents_of
from perfanalysis.results.opensearch.connection import Server, read_credentials
from perfanalysis.results.opensearch.indices import pull
from perfanalysis.results.scrubbing import read_rules
from perfanalysis.verdicts.regression.verdict import Options
from perfanalysis.verdicts.site.document import LinkOf, SiteOptions
from perfanalysis.verdicts.site.page import write_site

Command = TypeVar("Command", bound=Callable[..., object])
PLACE = "{run}"
REPORT = Path("report", "index.html")


class Source(Protocol):
    """A history."""

    @property
    def title(self) -> str:
        """Its name."""

    def documents(self) -> Iterator[Document]:
        """Yield its runs, oldest first."""


@dataclass(frozen=True, slots=True)
class HistorySource:
    """A history: a folder, or the URL of an OpenSearch with the prefix of its indices."""

    where: str
    prefix: str
    ca_file: Path | None

    @property
    def title(self) -> str:
        """Return the name of the folder, or the prefix of the indices."""
        return self.prefix if self._is_server else Path(self.where).resolve().name

    @property
    def _is_server(self) -> bool:
        return urlsplit(self.where).scheme in ("http", "https")

    def documents(self) -> Iterator[Document]:
        """Yield its runs, oldest first; print on stderr what was left out.

        Raises UsageError if it is not a history, ServerError if the server cannot be reached or refuses.
        """
        if not self._is_server:
            if "://" in self.where:
                raise UsageError(
                    f"{self.where} is not a history; pass a folder, or the https:// address of an OpenSearch"
                )
            yield from documents_of(Path(self.where).expanduser())
            return
        found = list(pull(Server(self.where, self.prefix, self.ca_file, credentials=read_credentials(None))))
        print_findings(each for each in found if isinstance(each, Finding))
        yield from oldest_first(each for each in found if not isinstance(each, Finding))


def oldest_first(documents: Iterable[Document]) -> list[Document]:
    """Return runs in the order of their start."""
    return sorted(documents, key=lambda each: (str(each.get("started") or ""), str(each["run"])))


def site_options(command: Command) -> Command:
    """Add the argument and options of the two commands that write a site."""
    options = (
        click.argument("history", metavar="HISTORY"),
        click.option("--prefix", default="psap-perf", show_default=True, help="Prefix of the names of the indices."),
        click.option(
            "--ca-file",
            type=LocalPath(),
            metavar="FILE",
            help="PEM file of the authority that signed the server's certificate, if the system does not trust it.",
        ),
        click.option(
            "--reports", metavar="TEMPLATE", help="Address of a run's report, such as ../{run}/report/index.html."
        ),
        click.option("--rules", type=LocalPath(), help="YAML with more names to drop and texts to replace."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def link_by(template: str) -> LinkOf:
    """Return the links of a template such as `../{run}/report/index.html`. Raises UsageError without `{run}`."""
    if PLACE not in template:
        raise UsageError(f"--reports {template}: write {PLACE} in place of the run's ID")
    return lambda run: template.replace(PLACE, quote(run))


def link_to(runs: Path, folder: Path) -> LinkOf:
    """Return relative links from a page in *folder* to the reports of a folder of runs, for runs that have one."""

    def link(run: str) -> str:
        report = runs / run / REPORT
        return quote(os.path.relpath(report, folder.resolve())) if report.is_file() else ""

    return link


def make_site(source: Source, folder: Path, link: LinkOf, rules: Path | None) -> Path:
    """Write the page of a history with the standard verdicts, and return its path.

    Raises UsageError if the history has no run, or the file of rules is invalid; ServerError as `HistorySource` does.
    """
    options = SiteOptions(Options(), link, read_rules(rules))
    return write_site(list(source.documents()), source.title, folder, options)


@click.command("site")
@site_options
@click.option("--to", "folder", required=True, type=LocalPath(file_okay=False), help="Folder for the page.")
def site_command(
    history: str, prefix: str, ca_file: Path | None, reports: str | None, rules: Path | None, folder: Path
) -> None:
    """Write one page over all runs of HISTORY, a folder or the URL of an OpenSearch.

    The page shows every KPI of every test over time, with verdicts, versions and filters. It opens from disk, without
    a server, and is scrubbed as by `history export`. Credentials of a server are PERF_OPENSEARCH_USER and
    PERF_OPENSEARCH_PASSWORD.
    """
    link = link_by(reports) if reports else lambda _run: ""
    click.echo(f"Page: {make_site(HistorySource(history, prefix, ca_file), folder, link, rules)}")
