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
    """Return a share such as `5%` or `0.05`. Raises UsageError if it is invalid."""
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
    help="History in which RUNS are looked up, by ID or its beginning; repeatable.",
)
@click.option("--by", metavar="SETTING", help="Compare the cells of one run by this setting.")
@click.option("--cells", is_flag=True, help="Compare each cell of one run with the baseline.")
@click.option(
    "--baseline", metavar="VALUE", help="With --by: a value. With --cells: the number of a cell or NAME=VALUE,…."
)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON document instead of the tables.")
@click.option("--margin", default="5%", show_default=True, help="Share below which a change does not matter.")
@PERCENTILES
@PNG
@SVG
@click.option(
    "--ignore", "ignored", multiple=True, metavar="KEY", help="Key whose value may differ, as in regress; repeatable."
)
@click.option("--force", is_flag=True, help="Compare even if settings that must be equal differ.")
@click.option("--fail-on-worse", is_flag=True, help="Exit with code 4 if something is worse than in the baseline.")
@click.option(
    "--output",
    type=LocalPath(),
    metavar="DIR",
    help="Directory to write to. [default: report/ of the last of RUNS]",
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
    """Compare RUNS with the first of them, or the cells of one run. List differences with confidence intervals.

    RUNS are run directories, or IDs of runs in a --history. The command compares recordings whose settings marked as
    keys are equal, and writes comparison.json, .md and .html. Exit code 2: settings differ. 4: see --fail-on-worse. 5:
    the data of a run is incomplete; the comparison was written nevertheless; takes precedence over 4.
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
    """Return the folder to write to: as requested, else the report of a run directory. Raises UsageError if there is
    none.
    """
    if Path(last).is_dir():
        return report_directory(Path(last), output, kinds)
    if output is None:
        raise UsageError(f"{last} is not a directory; for a run of a history, pass --output")
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
            raise UsageError("pass two or more runs, or --by SETTING or --cells to compare the cells of one run")
        if baseline is not None:
            raise UsageError("--baseline requires --by or --cells; of several runs, the first is the baseline")
        return sides_of(runs, histories, options)
    if len(runs) > 1 or (by and cells):
        raise UsageError("pass one run with either --by or --cells")
    with scratch_folder() as folder:
        return sides_of_cells(analyse_run(Path(runs[0]), folder, options), by, baseline)
