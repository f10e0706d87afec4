"""The commands `history add|list|show|merge|export`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from perfanalysis.drawing.wording import counted
from perfanalysis.errors import UsageError
from perfanalysis.files.documents import listing, mapping
from perfanalysis.imports.options import tell
from perfanalysis.results.opensearch.commands import pull_command, push_command
from perfanalysis.workloads.options import WORKLOADS

FOLDER = click.argument("folder", type=click.Path(path_type=Path))


@click.group("history")
def history_group() -> None:
    """Keep the results of many runs: a folder of one JSON document a run, which is only ever added to."""


@history_group.command("add")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--into", "folder", required=True, type=click.Path(path_type=Path), help="The history's folder.")
@WORKLOADS
def add_command(runs: tuple[Path, ...], folder: Path) -> None:
    """Add the KPIs of each of RUNS, with the settings that decide what they may be compared with.

    A run that is there already is not added again.
    """
    from perfanalysis.files.scratch import scratch_folder
    from perfanalysis.results.history.document import history_document
    from perfanalysis.results.history.folder import add
    from perfanalysis.workloads.run_analysis import analyse_run

    for run in runs:
        with scratch_folder() as tables:
            result = analyse_run(run, tables)
            document = history_document(result)
        tell(finding for finding in result.findings if finding.severity == "error")
        if not document["recordings"]:
            raise UsageError(f"{run} holds no recording: there is nothing to add")
        path, new = add(folder, document)
        click.echo(f"{'added' if new else 'already there'}: {document['run']} as {path.name}")


@history_group.command("list")
@FOLDER
@click.option("--flow", help="Only runs of this flow.")
def list_command(folder: Path, flow: str | None) -> None:
    """List the runs of a history, oldest first: when, what became of it, how many recordings and KPIs."""
    for document in documents_of(folder):
        if flow in (None, document.get("flow")):
            recordings = listing(document.get("recordings"))
            kpis = sum(len(listing(mapping(recording).get("kpis"))) for recording in recordings)
            counts = f"{counted(len(recordings), 'recording')}, {counted(kpis, 'KPI')}"
            started, status = str(document.get("started") or "unknown"), str(document.get("status") or "unknown")
            click.echo(f"{started:26} {status:12} {document['run']}  {counts}")


@history_group.command("show")
@FOLDER
@click.argument("run", required=False)
@click.option("--page", type=click.Path(path_type=Path), metavar="FILE", help="Write the trends of all runs as a page.")
@click.option("--sort-by", "sorted_by", multiple=True, metavar="KEY", help="Order its runs by this, as versions.")
def show_command(folder: Path, run: str | None, page: Path | None, sorted_by: tuple[str, ...]) -> None:
    """Print the document of RUN (its id, or the beginning of it that no other has), or write the page of all runs."""
    if (run is None) == (page is None):
        raise UsageError("name a RUN to print, or give --page FILE to write the trends of all runs")
    if page is not None:
        from perfanalysis.verdicts.regression.page import history_page

        written, findings = history_page(folder, page, sorted_by)
        tell(findings)
        click.echo(f"Page: {written}")
        return
    found = [document for document in documents_of(folder) if str(document["run"]).startswith(str(run))]
    if not found:
        from perfanalysis.results.history.folder import listed

        raise UsageError(f"{folder} has no run {run}; {listed(folder)}")
    if len(found) > 1:
        names = ", ".join(str(document["run"]) for document in found)
        raise UsageError(f"{run} is the beginning of {len(found)} runs in {folder}: {names}")
    click.echo(json.dumps(found[0], indent=1, ensure_ascii=False))


@history_group.command("merge")
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--into", "folder", required=True, type=click.Path(path_type=Path), help="The history that takes them in."
)
def merge_command(sources: tuple[Path, ...], folder: Path) -> None:
    """Take in the runs of other histories; what is there already stays as it is."""
    from perfanalysis.results.history.folder import merge

    for source in sources:
        click.echo(f"{source}: {merge(source, folder)} added")


@history_group.command("export")
@FOLDER
@click.option("--to", "target", required=True, type=click.Path(path_type=Path), help="A new history, to give away.")
@click.option("--rules", type=click.Path(path_type=Path), help="YAML with more names to drop and texts to replace.")
def export_command(folder: Path, target: Path, rules: Path | None) -> None:
    """Write a copy without names of machines and people, addresses and secrets.

    What goes by default: facts about servers, sites, proxies, passwords, tokens and secrets with every mention of what
    they said, and from every text references to secrets, tokens, hosts and addresses. docs/history.md has the rules.
    """
    from perfanalysis.results.history.folder import add
    from perfanalysis.results.scrubbing import read_rules, scrub

    wanted = read_rules(rules)
    count = sum(add(target, scrub(document, wanted))[1] for document in documents_of(folder))
    click.echo(f"{count} written to {target}")


def documents_of(folder: Path) -> Iterator[dict[str, Any]]:
    """The documents of a history; what was left out, and that there is none, is told on stderr."""
    from perfanalysis.results.history.folder import load

    history = load(folder)
    tell(history.findings)
    if not history.documents:
        click.echo(f"note: {folder} holds no run of a history", err=True)
    yield from history.documents


history_group.add_command(push_command)
history_group.add_command(pull_command)
