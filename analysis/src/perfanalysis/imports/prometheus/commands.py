"""The command `import prometheus`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.drawing.wording import counted
from perfanalysis.errors import DataQualityError
from perfanalysis.imports.options import INTO, kpi_override_options, kpi_overrides
from perfanalysis.imports.prometheus.reading import imported_answers, read_answers, told_of
from perfanalysis.imports.run_directory import write_run_directory


@click.command("prometheus")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@INTO
@kpi_override_options
def import_prometheus(
    files: tuple[Path, ...], into: Path | None, lower: tuple[str, ...], higher: tuple[str, ...], units: tuple[str, ...]
) -> None:
    """Make a run directory of what a Prometheus answered.

    FILES are answers of its API (range or instant queries, in JSON), each named like its file, or OpenMetrics text with
    timestamps, a query for each family. Units are told by the ends of names: _seconds, _bytes, _percent, … Mean, P50,
    P95 and maximum of each series are KPIs; a query without a unit has none, and is named. Exit code 5 when a file
    cannot be read; the run is made of the others.
    """
    said = kpi_overrides(lower, higher, units)
    answers = tuple(told_of(answer, said) for answer in read_answers(files))
    run = write_run_directory(imported_answers(files, answers), into)
    samples = sum(len(answer.samples) for answer in answers if answer.samples is not None)
    click.echo(f"{counted(len(answers), 'query', 'queries')}, {counted(samples, 'sample')}")
    click.echo(f"Run: {run}")
    lost = [f"{answer.name}: {answer.error}" for answer in answers if answer.samples is None]
    if lost:
        raise DataQualityError(f"{'; '.join(lost)}. The run was made without")
