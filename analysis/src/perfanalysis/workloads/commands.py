"""The command `parse`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.errors import refuse_bad_data
from perfanalysis.files.findings import print_findings
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.options import OUTPUT, RUN, WORKLOADS
from perfanalysis.workloads.parsing import parse_run
from perfanalysis.workloads.run_analysis import report_directory


@click.command("parse")
@RUN
@OUTPUT
@WORKLOADS
@click.option("--dry-run", is_flag=True, help="Only list what would be read, and why; nothing is written.")
def parse_command(run: Path, output: Path | None, kinds: Kinds, dry_run: bool) -> None:
    """Parse the recordings of RUN to tables, those whose files changed since; a line for each recording.

    Exit code 5 when a part of the data cannot be read; the rest is parsed all the same.
    """
    target = (output or run / "report") if dry_run else report_directory(run, output, kinds)
    recordings, findings = parse_run(run, target, kinds, dry=dry_run)
    for recording in recordings:
        click.echo(recording.sentence)
        for line in recording.files if dry_run else ():
            click.echo(line)
    print_findings(findings)
    if not dry_run:
        click.echo(f"Tables: {target / 'tables'}")
        refuse_bad_data(finding.text for finding in findings if finding.severity == "error")
