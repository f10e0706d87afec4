"""Parse a run without analysing it: its recordings, the files of each, and which need parsing again.

The command `parse`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from perfanalysis.drawing.blocks import data_size
from perfanalysis.errors import DataQualityError
from perfanalysis.files.cache import MISSING, UNREADABLE, Cache, Input, State, tables_folder
from perfanalysis.files.discovery import Place
from perfanalysis.files.findings import Finding, print_findings, refuse_incomplete
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.options import OUTPUT, RUN, WORKLOADS
from perfanalysis.workloads.prometheus_ranges import RANGES
from perfanalysis.workloads.run_analysis import report_directory


@dataclass(frozen=True)
class Recording:
    """A recording, or a window of Prometheus, with the files that are read."""

    place: Place
    kind: str
    state: State
    parsed: bool

    @property
    def sentence(self) -> str:
        """Return a text such as "artifacts: scale_test, 4 files, 2.6 MB: as kept"."""
        there = [one for one in self.state.inputs.values() if is_there(one)]
        size = data_size(float(sum(one.size for one in there)))
        files = f"{len(there)} file{'' if len(there) == 1 else 's'}"
        outcome = "as kept" if not self.state.reason else "parsed" if self.parsed else "to be parsed"
        why = f" ({self.state.reason})" if self.state.reason else ""
        return f"{self.place.relative}: {self.kind}, {files}, {size}: {outcome}{why}"

    @property
    def files(self) -> tuple[str, ...]:
        """Yield a line for each file that is read."""
        return tuple(
            f"  {name}  {data_size(float(one.size)) if is_there(one) else one.hash}"
            for name, one in self.state.inputs.items()
        )


def is_there(one: Input) -> bool:
    """Return whether the file can be read."""
    return not one.hash.startswith((MISSING, UNREADABLE))


def parse_run(
    run_directory: Path, output: Path, kinds: Kinds, *, dry: bool = False
) -> tuple[tuple[Recording, ...], tuple[Finding, ...]]:
    """Return every recording of a run, parsed unless its tables below `output`/tables are of the same contents.

    With `dry`, nothing is parsed or written. Raises UsageError if it is not a run directory.
    """
    run = kinds.discover(run_directory)
    findings = run.findings
    made = []
    sources = [(place, kinds.of(place.marker)) for place in run.places]
    for place, source in (*sources, *((place, RANGES) for place in run.monitoring)):
        cache = Cache(source, place, tables_folder(output, place))
        state = cache.state()
        more = state.findings
        parsed = bool(state.reason) and not dry
        if parsed:
            try:
                _, more = cache.renew(state)
            except DataQualityError as error:
                more = (Finding("error", place.relative, str(error)),)
        findings += more
        made.append(Recording(place, source.name, state, parsed))
    return tuple(made), tuple(dict.fromkeys(findings))


@click.command("parse")
@RUN
@OUTPUT
@WORKLOADS
@click.option("--dry-run", is_flag=True, help="List what would be read and why; write nothing.")
def parse_command(run: Path, output: Path | None, kinds: Kinds, dry_run: bool) -> None:
    """Parse recordings of RUN into tables if their files changed; print a line for each recording.

    Exit code 5: a part of the data cannot be read; the rest was parsed.
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
        refuse_incomplete(findings)
