"""The commands `kpi`, `tables`, `payload` and `schema`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from perfanalysis.files.documents import write_json
from perfanalysis.results.output import write_kpis, write_tables
from perfanalysis.results.payload.of_run import payload_of
from perfanalysis.results.payload.reading import to_json
from perfanalysis.results.payload.schema import payload_schema
from perfanalysis.results.scrubbing import read_rules, scrub
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.options import OUTPUT, PERCENTILES, RUN, WORKLOADS
from perfanalysis.workloads.percentiles import Method
from perfanalysis.workloads.run_analysis import AnalysisOptions, analyse_run, report_directory

SCHEMAS = ("payload",)
"""Documents whose schema is made from their types."""


@click.command("payload")
@RUN
@OUTPUT
@WORKLOADS
@click.option("--rules", type=click.Path(path_type=Path), metavar="FILE", help="More names to drop, texts to replace.")
def payload_command(run: Path, output: Path | None, kinds: Kinds, rules: Path | None) -> None:
    """Write metadata, results and KPIs of RUN as one document (payload.json) and print it.

    Names of machines and people, addresses and secrets are taken out first: it is made to be given away.
    """
    wanted = read_rules(rules)
    target = report_directory(run, output, kinds)
    path = target / "payload.json"
    write_json(path, scrub(to_json(payload_of(analyse_run(run, target, AnalysisOptions(kinds)))), wanted))
    click.echo(path.read_text(encoding="utf-8"), nl=False)


@click.command("schema")
@click.argument("document", type=click.Choice(SCHEMAS))
def schema_command(document: str) -> None:
    """Print the JSON Schema of DOCUMENT, made from its types."""
    del document  # there is one so far; click refused any other
    click.echo(json.dumps(payload_schema(), indent=2, ensure_ascii=False))


@click.command("kpi")
@RUN
@OUTPUT
@WORKLOADS
@PERCENTILES
@click.option("--format", "form", type=click.Choice(["json", "openmetrics"]), default="json", show_default=True)
def kpi_command(run: Path, output: Path | None, kinds: Kinds, method: Method, form: str) -> None:
    """Write the KPIs of RUN (kpis.json and kpis.prom) and print them."""
    target = report_directory(run, output, kinds)
    document, metrics = write_kpis(analyse_run(run, target, AnalysisOptions(kinds, method)), target)
    click.echo((document if form == "json" else metrics).read_text(), nl=False)


@click.command("tables")
@RUN
@OUTPUT
@WORKLOADS
def tables_command(run: Path, output: Path | None, kinds: Kinds) -> None:
    """Write the tables of RUN as Parquet files and name them."""
    target = report_directory(run, output, kinds)
    folder = write_tables(analyse_run(run, target, AnalysisOptions(kinds)), target)
    for path in sorted(folder.rglob("*.parquet")):
        click.echo(path)
