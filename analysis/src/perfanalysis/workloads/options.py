"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from perfanalysis.drawing.matplotlib import Format
from perfanalysis.files.local_path import LocalPath
from perfanalysis.files.runs_folder import LATEST, run_named, run_names
from perfanalysis.workloads.kinds import Kinds, shipped
from perfanalysis.workloads.percentiles import METHODS


def _complete_runs(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete names of runs, the newest first, else paths."""
    known = [CompletionItem(name) for name in (LATEST, *run_names()) if name.startswith(incomplete)]
    return known or [CompletionItem(incomplete, type="file")]


def _run_or_id(_context: click.Context, _parameter: click.Parameter, given: str) -> str:
    return str(run_named(given, whole=True) or given)


def _runs_or_ids(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(run_named(one, whole=True) or one) for one in given)


_PATH = LocalPath()
RUN = click.argument(
    "run",
    type=_PATH,
    callback=lambda _context, _parameter, given: run_named(str(given)) or given,
    shell_complete=_complete_runs,
)
RUNS = click.argument(
    "runs",
    nargs=-1,
    required=True,
    type=_PATH,
    callback=lambda _context, _parameter, given: tuple(run_named(str(one)) or one for one in given),
    shell_complete=_complete_runs,
)
RUN_OR_ID = click.argument("run", callback=_run_or_id, shell_complete=_complete_runs)
"""A run directory, or a run of a history by the beginning of its id."""
RUNS_OR_IDS = click.argument("runs", nargs=-1, required=True, callback=_runs_or_ids, shell_complete=_complete_runs)
OUTPUT = click.option(
    "--output", type=LocalPath(file_okay=False), metavar="DIR", help="Directory to write to. [default: RUN/report]"
)
FIRST = click.option(
    "--first", type=click.IntRange(min=1), metavar="N", help="Show only the first N workloads by submission."
)
LAST = click.option(
    "--last",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show only the last N workloads; with --first, the last N of these.",
)
PNG = click.option("--png", is_flag=True, help="Also write each plot as a PNG file.")
SVG = click.option("--svg", is_flag=True, help="Also write each plot as an SVG file.")


def image_formats(png: bool, svg: bool) -> tuple[Format, ...]:
    """Return the formats that --png and --svg request."""
    wanted: dict[Format, bool] = {"png": png, "svg": svg}
    return tuple(form for form, asked in wanted.items() if asked)


def _kinds(_context: click.Context, _parameter: click.Parameter, folders: tuple[Path, ...]) -> Kinds:
    return shipped().with_folders(folders)


PERCENTILES = click.option(
    "--percentiles",
    "method",
    type=click.Choice(METHODS),
    default="linear",
    show_default=True,
    help="How to compute percentiles: like numpy's default, or like kube-burner.",
)
WORKLOADS = click.option(
    "--workload",
    "kinds",
    type=LocalPath(),
    multiple=True,
    metavar="FOLDER",
    envvar="PERFANALYSIS_WORKLOADS",
    callback=_kinds,
    help="Folder of an additional kind of workload, with workload.yml and parser.py; repeatable.",
)
