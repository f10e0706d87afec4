"""The command `import kube-burner`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.errors import DataQualityError, UsageError
from perfanalysis.files.findings import print_findings
from perfanalysis.imports.kube_burner.folder import imported_folder, read_folder
from perfanalysis.imports.kube_burner.orion import keep_columns
from perfanalysis.imports.options import INTO
from perfanalysis.imports.orion.commands import CONFIG, TEST, VARIABLES
from perfanalysis.imports.orion.config import chosen_test, read_config
from perfanalysis.imports.orion.template import read_variables
from perfanalysis.imports.run_directory import write_run_directory


@click.command("kube-burner")
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@INTO
@click.option(
    "--history",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Instead of a run: add the columns of --orion-config to this history.",
)
@CONFIG
@TEST
@VARIABLES
def import_kube_burner(
    directory: Path,
    into: Path | None,
    history: Path | None,
    orion_config: Path | None,
    orion_test: str | None,
    orion_vars: str | None,
) -> None:
    """Make a run directory of DIRECTORY, the folder of kube-burner's indexer `local`.

    Each job is a cell: its summary, its pods' latencies, its quantiles, which are recomputed from the pods, its alerts,
    and the samples of its metric profile. With --history and --orion-config the metrics of a test of orion's are
    computed from the documents, as orion would from its index. Exit code 5 when a file cannot be read; the others are
    taken in.
    """
    if (history is None) != (orion_config is None):
        raise UsageError("--history and --orion-config belong together")
    folder = read_folder(directory)
    print_findings(folder.findings)
    if history is not None and orion_config is not None:
        test = chosen_test(read_config(orion_config, read_variables(orion_vars)), orion_test, orion_config)
        added = keep_columns(folder, test, history)
        print_findings(added.findings)
        click.echo(added.told(directory.name, of=test.name))
    else:
        imported = imported_folder(folder)
        run = write_run_directory(imported, into)
        click.echo(f"{len(imported.recordings)} jobs: {', '.join(recording.name for recording in imported.recordings)}")
        click.echo(f"Run: {run}")
    lost = [finding.where for finding in folder.findings if finding.severity == "error"]
    if lost:
        raise DataQualityError(f"{', '.join(lost)} could not be read whole. The rest was taken in")
