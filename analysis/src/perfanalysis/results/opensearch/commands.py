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
    click.option("--prefix", default="psap-perf", show_default=True, help="Prefix of the names of the indices."),
    click.option(
        "--credentials",
        type=LocalPath(),
        metavar="FILE",
        help=(
            "YAML file with user and password, mode 0600. [default: PERF_OPENSEARCH_USER and PERF_OPENSEARCH_PASSWORD]"
        ),
    ),
    click.option(
        "--ca-file",
        type=LocalPath(),
        metavar="FILE",
        help="PEM file of the authority that signed the server's certificate, if the system does not trust it.",
    ),
    click.option(
        "--no-verify", is_flag=True, help="Do not verify the server's certificate; others can then read the traffic."
    ),
)


def of_server(command: Command) -> Command:
    """Add the options for the connection to a server."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command("push")
@click.argument("folder", type=LocalPath())
@click.option(
    "--to", "url", required=True, metavar="URL", help="Address of the server, such as https://search.example.com:9200."
)
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
    """Push the runs of a history to OpenSearch, scrubbed as by `history export`; pushing again changes nothing.

    Exit code 1: the server refused some documents, which are listed; 3: the server cannot be reached or refuses the
    connection.
    """
    wanted = read_rules(rules)
    server = _server(url, prefix, credentials, ca_file, no_verify)
    pushed = push(server, [scrub(document, wanted) for document in documents_of(folder)])
    for kind, what in (("runs", ("run",)), ("kpis", ("value of a KPI", "values of KPIs"))):
        click.echo(f"{counted(pushed.new[kind], *what)} pushed, {pushed.there[kind]} already there")
    error = pushed.error()
    if error is not None:
        raise error


@click.command("pull")
@click.argument("folder", type=LocalPath())
@click.option(
    "--from",
    "url",
    required=True,
    metavar="URL",
    help="Address of the server, such as https://search.example.com:9200.",
)
@of_server
@click.option("--flow", help="Pull only runs of this flow.")
def pull_command(
    folder: Path,
    url: str,
    prefix: str,
    credentials: Path | None,
    ca_file: Path | None,
    no_verify: bool,
    flow: str | None,
) -> None:
    """Pull runs from OpenSearch into a history, which is created if missing.

    Exit code 3: the server cannot be reached or refuses the connection; 5: documents were changed on the server; they
    are listed and left out.
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
    click.echo(f"{counted(new, 'run')} pulled into {folder}, {there} already there")
    if changed:
        raise DataQualityError(f"{changed} documents of the server were left out; see the messages above")


def _server(url: str, prefix: str, credentials: Path | None, ca_file: Path | None, no_verify: bool) -> Server:
    if no_verify:
        click.echo("warning: the server's certificate is not verified", err=True)
    return Server(url, prefix, ca_file, not no_verify, read_credentials(credentials))
