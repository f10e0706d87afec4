"""The command `import lts`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.files.findings import print_findings
from perfanalysis.imports.entries import keep, origin
from perfanalysis.imports.lts.payloads import files_of, history_documents, read_file
from perfanalysis.imports.options import HISTORY


@click.command("lts")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@HISTORY
def import_lts(paths: tuple[Path, ...], folder: Path) -> None:
    """Add LTS payloads to a history.

    PATHS are files with a payload or a list of them, or directories of such files, as they are exported and downloaded.
    A run's id is the test's uuid; the settings are the keys that it is compared by, versions and the like are facts.
    """
    for path in (file for given in paths for file in files_of(given)):
        read = read_file(path)
        added = keep(folder, history_documents(read.payloads, origin(path, read.content)))
        print_findings(
            (*read.findings, *(each for payload in read.payloads for each in payload.findings), *added.findings)
        )
        click.echo(added.told(path.name))
