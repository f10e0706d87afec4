"""The commands `history push` and `history pull`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from perfanalysis.drawing.wording import counted
from perfanalysis.errors import DataQualityError
from perfanalysis.files.findings import Finding
from perfanalysis.files.local_path import LocalPath
from perfanalysis.results.history.folder import add, documents_of
from perfanalysis.results.opensearch.connection import Server, read_credentials
from perfanalysis.results.opensearch.indices import pull, push
from perfanalysis.results.scrubbing import read_rules, scrub

Command = TypeVar("Command", bound=Callable[..., None])
OPTIONS = (
    click.option("--prefix", default="psap-perf", show_default=True, help="What the names of the indices begin with."),
    click.option(
        "--credentials",
        type=LocalPath(),
        metavar="FILE",
        help="YAML with user and password, mode 0600. Else PERF_OPENSEARCH_USER and PERF_OPENSEARCH_PASSWORD.",
    ),
    click.option(
        "--ca-file",
        type=LocalPath(),
        metavar="FILE",
        help="PEM of the authority that signed the server's certificate, where the system does not know it.",
    ),
    click.option("--no-verify", is_flag=True, help="Do not check the server's certificate. Anyone can listen then."),
)


def of_server(command: Command) -> Command:
    """The options that say how a server is reached."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command("push")
@click.argument("folder", type=LocalPath())
@click.option("--to", "url", required=True, metavar="URL", help="Such as https://search.example.com:9200.")
@of_server
@click.option("--rules", type=LocalPath(), help="YAML with more names to drop and texts to replace.")
def push_command(
    folder: Path,
    url: str,
    prefix: str,
    credentials: Path | None,
    ca_file: Path | None,
    no_verify: bool,
    rules: Path | None,
) -> None:
    """Push the runs of a history to OpenSearch, scrubbed as `history export` does; pushing again changes nothing.

    Exit code 1 when some documents were not taken, each is named; 3 when the server cannot be reached or refuses.
    """
    wanted = read_rules(rules)
    server = _server(url, prefix, credentials, ca_file, no_verify)
    pushed = push(server, [scrub(document, wanted) for document in documents_of(folder)])
    for kind, what in (("runs", ("run",)), ("kpis", ("value of a KPI", "values of KPIs"))):
        click.echo(f"{counted(pushed.new[kind], *what)} pushed, {pushed.there[kind]} there already")
    error = pushed.error()
    if error is not None:
        raise error


@click.command("pull")
@click.argument("folder", type=LocalPath())
@click.option("--from", "url", required=True, metavar="URL", help="Such as https://search.example.com:9200.")
@of_server
@click.option("--flow", help="Only runs of this flow.")
def pull_command(
    folder: Path,
    url: str,
    prefix: str,
    credentials: Path | None,
    ca_file: Path | None,
    no_verify: bool,
    flow: str | None,
) -> None:
    """Pull runs from OpenSearch into a history, which is made where it is not there.

    Exit code 3 when the server cannot be reached or refuses; 5 when documents were changed on the server: each is named
    and left out.
    """
    new = there = changed = 0
    for found in pull(_server(url, prefix, credentials, ca_file, no_verify), flow):
        if isinstance(found, Finding):
            click.echo(f"{found.severity}: {found.where}: {found.text}", err=True)
            changed += 1
        elif add(folder, found)[1]:
            new += 1
        else:
            there += 1
    click.echo(f"{counted(new, 'run')} pulled into {folder}, {there} there already")
    if changed:
        raise DataQualityError(f"{changed} documents of the server were left out; they are named above")


def _server(url: str, prefix: str, credentials: Path | None, ca_file: Path | None, no_verify: bool) -> Server:
    if no_verify:
        click.echo("warning: the server's certificate is not checked", err=True)
    return Server(url, prefix, ca_file, not no_verify, read_credentials(credentials))
