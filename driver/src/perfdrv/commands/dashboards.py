"""`perfdrv dashboards`."""

from __future__ import annotations

import json
from pathlib import Path

import click
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text
from ansible_collections.psap.perf.plugins.module_utils.prometheus.dashboards import dashboard
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import read_queries, shipped_files
from perfanalysis.files.local_path import LocalPath

from perfdrv.command_line.session import current_project
from perfdrv.errors import DriverError, unknown
from perfdrv.project import shown_path


@click.command()
@click.argument("layers", nargs=-1)
@click.option(
    "-f", "--file", "files", multiple=True, type=LocalPath(exists=True, dir_okay=False), help="Query file of yours."
)
@click.option(
    "-o",
    "--output",
    type=LocalPath(file_okay=False),
    default="dashboards",
    show_default=True,
    help="Folder to write to.",
)
@click.pass_context
def dashboards(ctx: click.Context, layers: tuple[str, ...], files: tuple[Path, ...], output: Path) -> None:
    """Write a dashboard of Grafana, in JSON, for each shipped query file, or for those of LAYERS.

    Grafana imports the files. Each asks for its Prometheus, and for the namespaces and models as regular expressions.
    """
    shipped = shipped_files(current_project(ctx).content().collection)
    wrong = next((layer for layer in layers if layer not in shipped), None)
    if wrong is not None:
        raise click.UsageError(unknown("layer", wrong, sorted(shipped), "docs/prometheus.md"))
    chosen = [shipped[layer] for layer in layers] if layers or files else list(shipped.values())
    for path in (*chosen, *files):
        try:
            output.mkdir(parents=True, exist_ok=True)
            place = output / f"{path.stem}.json"
            # Grafana replaces the variables
            queries = read_queries(path, "$NAMESPACE", "$MODEL")
            write_text(place, json.dumps(dashboard(path.stem, queries), indent=2) + "\n")
        except OSError as error:
            raise DriverError(f"cannot write to {output}: {error.strerror}; choose another folder with -o") from error
        click.echo(shown_path(place))
