"""The commands `history add|list|show|merge|export`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.drawing.wording import counted
from perfanalysis.errors import UsageError
from perfanalysis.files.cache import scratch_folder
from perfanalysis.files.documents import listing, mapping
from perfanalysis.files.findings import print_findings
from perfanalysis.files.local_path import LocalPath
from perfanalysis.results.history.documents import history_document
from perfanalysis.results.history.folder import add, documents_of, merge
from perfanalysis.results.scrubbing import read_rules, scrub
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.options import RUNS, WORKLOADS
from perfanalysis.workloads.run_analysis import AnalysisOptions, analyse_run

_PULL = "fetch it from OpenSearch with `perfanalysis history pull`"
_PUSH = "push to OpenSearch with `perfanalysis history push`"
FOLDER = click.argument("folder", type=LocalPath(_PULL, file_okay=False))


@click.command("add")
@RUNS
@click.option("--into", "folder", required=True, type=LocalPath(_PUSH, file_okay=False), help="Folder of the history.")
@WORKLOADS
def add_command(runs: tuple[Path, ...], folder: Path, kinds: Kinds) -> None:
    """Add the KPIs of RUNS, with the settings that determine comparable runs.

    Runs that are already in the history are not added again.
    """
    for run in runs:
        with scratch_folder() as tables:
            result = analyse_run(run, tables, AnalysisOptions(kinds))
            document = history_document(result)
        print_findings(finding for finding in result.findings if finding.severity == "error")
        if not document["recordings"]:
            raise UsageError(f"{run} has no recording: nothing to add")
        path, new = add(folder, document)
        click.echo(f"{'added' if new else 'already there'}: {document['run']} as {path.name}")


@click.command("list")
@FOLDER
@click.option("--flow", help="List only runs of this flow.")
def list_command(folder: Path, flow: str | None) -> None:
    """List the runs of a history, oldest first: start, status, numbers of recordings and KPIs."""
    for document in documents_of(folder):
        if flow in (None, document.get("flow")):
            recordings = listing(document.get("recordings"))
            kpis = sum(len(listing(mapping(recording).get("kpis"))) for recording in recordings)
            counts = f"{counted(len(recordings), 'recording')}, {counted(kpis, 'KPI')}"
            started, status = str(document.get("started") or "unknown"), str(document.get("status") or "unknown")
            click.echo(f"{started:26} {status:12} {document['run']}  {counts}")


@click.command("merge")
@click.argument("sources", nargs=-1, required=True, type=LocalPath(_PULL, file_okay=False))
@click.option(
    "--into",
    "folder",
    required=True,
    type=LocalPath(_PUSH, file_okay=False),
    help="History to add the runs to; created if missing.",
)
def merge_command(sources: tuple[Path, ...], folder: Path) -> None:
    """Add the runs of other histories; existing runs stay unchanged."""
    for source in sources:
        click.echo(f"{source}: {merge(source, folder)} added")


@click.command("export")
@FOLDER
@click.option("--to", "target", required=True, type=LocalPath(file_okay=False), help="New history to write.")
@click.option("--rules", type=LocalPath(), help="YAML with more names to drop and texts to replace.")
def export_command(folder: Path, target: Path, rules: Path | None) -> None:
    """Write a copy without names of machines and people, addresses and secrets.

    By default, this removes facts about servers, sites, proxies, passwords, tokens and secrets, and all mentions of
    their values. From every text, it removes references to secrets, tokens, hosts and addresses. docs/history.md has
    the rules.
    """
    wanted = read_rules(rules)
    count = sum(add(target, scrub(document, wanted))[1] for document in documents_of(folder))
    click.echo(f"{count} written to {target}")
