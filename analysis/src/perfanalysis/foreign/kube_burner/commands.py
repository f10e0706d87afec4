"""The command `import kube-burner`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.foreign.options import INTO, tell


@click.command("kube-burner", short_help="A local folder of kube-burner, as a run.")
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@INTO
def import_kube_burner(directory: Path, into: Path | None) -> None:
    """Make a run directory of DIRECTORY, the folder of kube-burner's indexer `local`.

    Each job is a cell: its summary, its pods' latencies, its quantiles, which are recomputed from the pods, its alerts,
    and the samples of its metric profile. Exit code 5 when a file cannot be read; the run is made of the others.
    """
    from perfanalysis.errors import DataQualityError
    from perfanalysis.foreign.kube_burner.folder import imported_folder, read_folder
    from perfanalysis.foreign.run_directory import write_run_directory

    folder = read_folder(directory)
    imported = imported_folder(folder)
    run = write_run_directory(imported, into)
    tell(folder.findings)
    click.echo(f"{len(imported.parts)} jobs: {', '.join(part.name for part in imported.parts)}")
    click.echo(f"Run: {run}")
    lost = [finding.where for finding in folder.findings if finding.severity == "error"]
    if lost:
        raise DataQualityError(f"{', '.join(lost)} could not be read whole. The run was made without what is lost")
