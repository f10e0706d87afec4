"""The command `compare`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.errors import UsageError
from perfanalysis.files.cache import scratch_folder
from perfanalysis.files.local_path import LocalPath
from perfanalysis.verdicts.comparison.comparison import compare
from perfanalysis.verdicts.comparison.sides import Side, sides_of, sides_of_cells
from perfanalysis.verdicts.comparison.texts import console_for_output, print_comparison
from perfanalysis.verdicts.comparison.write import write_comparison
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.options import PERCENTILES, PNG, RUNS_OR_IDS, SVG, WORKLOADS, image_formats
from perfanalysis.workloads.percentiles import Method
from perfanalysis.workloads.run_analysis import AnalysisOptions, analyse_run, report_directory


def share(text: str) -> float:
    """A share such as `5%` or `0.05`; raises UsageError when it is none."""
    number = text.strip().removesuffix("%")
    try:
        value = float(number) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 10:
        raise UsageError(f"--margin {text}: write a share such as 5% or 0.05")
    return value


@click.command("compare")
@RUNS_OR_IDS
@click.option(
    "--history",
    "histories",
    multiple=True,
    type=LocalPath(),
    metavar="DIR",
    help="A history in which RUNS may be, by id or its beginning; repeatable.",
)
@click.option("--by", metavar="SETTING", help="Of one run: compare its cells by this setting.")
@click.option("--cells", is_flag=True, help="Of one run: compare each of its cells with the baseline.")
@click.option("--baseline", metavar="VALUE", help="With --by a value, with --cells a cell's number or NAME=VALUE,….")
@click.option("--json", "as_json", is_flag=True, help="Print the JSON document instead of the tables.")
@click.option("--margin", default="5%", show_default=True, help="Changes smaller than this share do not matter.")
@PERCENTILES
@PNG
@SVG
@click.option(
    "--ignore", "ignored", multiple=True, metavar="KEY", help="A key whose value may differ, as in regress; repeatable."
)
@click.option("--force", is_flag=True, help="Compare although settings that must be equal differ.")
@click.option("--fail-on-worse", is_flag=True, help="Exit code 4 when something is worse than in the baseline.")
@click.option(
    "--output",
    type=LocalPath(),
    metavar="DIR",
    help="Where to write; by default report in the last run.",
)
@WORKLOADS
def compare_command(
    runs: tuple[str, ...],
    histories: tuple[Path, ...],
    by: str | None,
    cells: bool,
    baseline: str | None,
    as_json: bool,
    margin: str,
    png: bool,
    svg: bool,
    ignored: tuple[str, ...],
    force: bool,
    fail_on_worse: bool,
    output: Path | None,
    kinds: Kinds,
    method: Method,
) -> None:
    """Compare RUNS with the first of them, or the cells of one: what is better, worse or the same, and how surely.

    RUNS are run directories, or ids of runs in a --history. Recordings are compared whose settings marked as keys are
    equal. comparison.json, .md and .html are written. Exit code 2: settings differ. 5: the data of one is not
    complete; all is written all the same, and with --fail-on-worse this comes before 4.
    """
    limit, target = share(margin), target_of(runs[-1], output, kinds)
    sides = _sides(runs, histories, by, baseline, AnalysisOptions(kinds, method), cells=cells)
    comparison = compare(sides, force=force, margin=limit, ignored=frozenset(ignored))
    written = write_comparison(comparison, target, image_formats(png, svg))
    if as_json:
        click.echo(written.document.read_text(), nl=False)
    else:
        print_comparison(comparison, console_for_output())
        click.echo(f"Page: {written.page}")
    error = comparison.error(fail_on_worse=fail_on_worse)
    if error is not None:
        raise error


def target_of(last: str, output: Path | None, kinds: Kinds) -> Path:
    """Where to write: as asked, else into the report of a run directory. Raises UsageError for what is none."""
    if Path(last).is_dir():
        return report_directory(Path(last), output, kinds)
    if output is None:
        raise UsageError(f"{last} is no directory; if it is a run of a history, say with --output where to write")
    return output


def _sides(
    runs: tuple[str, ...],
    histories: tuple[Path, ...],
    by: str | None,
    baseline: str | None,
    options: AnalysisOptions,
    *,
    cells: bool,
) -> tuple[Side, ...]:
    if not (by or cells):
        if len(runs) < 2:
            raise UsageError("give two or more runs, or --by SETTING or --cells to compare the cells of one")
        if baseline is not None:
            raise UsageError("--baseline belongs to --by and --cells; of several runs the first is the baseline")
        return sides_of(runs, histories, options)
    if len(runs) > 1 or (by and cells):
        raise UsageError("--by or --cells, and one run: its cells are compared")
    with scratch_folder() as folder:
        return sides_of_cells(analyse_run(Path(runs[0]), folder, options), by, baseline)
