"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from perfanalysis.workloads.kinds import Kinds, shipped
from perfanalysis.workloads.percentiles import METHODS

if TYPE_CHECKING:
    from perfanalysis.drawing.matplotlib import Format

RUN = click.argument("run", type=click.Path(path_type=Path))
OUTPUT = click.option(
    "--output", type=click.Path(path_type=Path), metavar="DIR", help="Where to write; by default RUN/report."
)

PNG = click.option("--png", is_flag=True, help="Write each plot as a PNG file, too.")
SVG = click.option("--svg", is_flag=True, help="Write each plot as an SVG file, too.")


def image_formats(png: bool, svg: bool) -> tuple[Format, ...]:
    """The formats that --png and --svg ask for."""
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
    help="How percentiles are taken: as numpy's default, or as kube-burner's.",
)
WORKLOADS = click.option(
    "--workload",
    "kinds",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FOLDER",
    envvar="PERFANALYSIS_WORKLOADS",
    callback=_kinds,
    help="A folder with workload.yml and parser.py: a kind of workload of your own. Repeatable.",
)
