"""The commands `kpi`, `tables`, `payload` and `schema`, and their files."""

from __future__ import annotations

import json
from pathlib import Path

import click

from perfanalysis.files.documents import Document, text_or_none, write_json, write_text
from perfanalysis.files.findings import print_findings, refuse_incomplete
from perfanalysis.files.local_path import LocalPath
from perfanalysis.files.tables import write_table
from perfanalysis.results.payload import payload_of, payload_schema, to_json
from perfanalysis.results.scrubbing import read_rules, scrub
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.kpis import kpis_document, openmetrics
from perfanalysis.workloads.options import OUTPUT, PERCENTILES, RUN, WORKLOADS
from perfanalysis.workloads.percentiles import Method
from perfanalysis.workloads.run_analysis import AnalysisOptions, RunAnalysis, analyse_run, report_directory


def write_kpis(result: RunAnalysis, target: Path) -> tuple[Path, Path]:
    """Write kpis.json and kpis.prom."""
    run = result.run.document
    facts = {
        "run": result.run.id,
        "flow": text_or_none(run.get("flow")),
        "status": result.run.status,
        "lab": result.lab.document(),
    }
    labelled = result.labelled_kpis()
    document: Document = kpis_document(facts, labelled, result.options.method)
    paths = target / "kpis.json", target / "kpis.prom"
    write_json(paths[0], document)
    # simulated numbers are labelled everywhere
    common = {
        "run": result.run.id,
        "flow": str(run.get("flow") or ""),
        **({"lab": result.lab.line} if result.lab.line else {}),
    }
    write_text(paths[1], openmetrics(labelled, common))
    return paths


def write_tables(result: RunAnalysis, target: Path) -> Path:
    """Write each derived table once, with a column for the recording."""
    import pandas as pd

    folder = target / "tables"
    specs = {name: spec for analysis in result.analyses for name, spec in analysis.specs.items()}
    for name, spec in specs.items():
        frames = [
            analysis.frames[name].assign(recording=analysis.place.name)
            for analysis in result.analyses
            if name in analysis.frames
        ]
        write_table(folder / f"{name}.parquet", pd.concat(frames, ignore_index=True), spec.with_recording())
    return folder


SCHEMAS = ("payload",)
"""Documents whose schema is generated from their types."""


@click.command("payload")
@RUN
@OUTPUT
@WORKLOADS
@click.option("--rules", type=LocalPath(), metavar="FILE", help="YAML with more names to drop and texts to replace.")
def payload_command(run: Path, output: Path | None, kinds: Kinds, rules: Path | None) -> None:
    """Write metadata, results and KPIs of RUN as one document (payload.json) and print it.

    The document is for others: names of machines and people, addresses and secrets are removed. Exit code 5: the data
    is incomplete; the document was written nevertheless.
    """
    wanted = read_rules(rules)
    target = report_directory(run, output, kinds)
    path = target / "payload.json"
    result = analyse_run(run, target, AnalysisOptions(kinds))
    write_json(path, scrub(to_json(payload_of(result)), wanted))
    click.echo(path.read_text(encoding="utf-8"), nl=False)
    _end(result)


@click.command("schema")
@click.argument("document", type=click.Choice(SCHEMAS), metavar=f"DOCUMENT ({', '.join(SCHEMAS)})")
def schema_command(document: str) -> None:
    """Print the JSON Schema of DOCUMENT, generated from its types."""
    del document  # click accepts only one document
    click.echo(json.dumps(payload_schema(), indent=2, ensure_ascii=False))


@click.command("kpi")
@RUN
@OUTPUT
@WORKLOADS
@PERCENTILES
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "openmetrics"]),
    default="json",
    show_default=True,
    help="Format of the printed KPIs.",
)
def kpi_command(run: Path, output: Path | None, kinds: Kinds, method: Method, form: str) -> None:
    """Write the KPIs of RUN (kpis.json and kpis.prom) and print them.

    Exit code 5: the data is incomplete; the KPIs were written nevertheless.
    """
    target = report_directory(run, output, kinds)
    result = analyse_run(run, target, AnalysisOptions(kinds, method))
    document, metrics = write_kpis(result, target)
    click.echo((document if form == "json" else metrics).read_text(), nl=False)
    _end(result)


@click.command("tables")
@RUN
@OUTPUT
@WORKLOADS
def tables_command(run: Path, output: Path | None, kinds: Kinds) -> None:
    """Write the tables of RUN as Parquet files and print their paths.

    Exit code 5: the data is incomplete; the tables were written nevertheless.
    """
    target = report_directory(run, output, kinds)
    result = analyse_run(run, target, AnalysisOptions(kinds))
    for path in sorted(write_tables(result, target).rglob("*.parquet")):
        click.echo(path)
    _end(result)


def _end(result: RunAnalysis) -> None:
    print_findings(result.findings)
    refuse_incomplete(result.findings)
