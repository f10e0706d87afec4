"""Options of the commands of import, and what a user says of KPIs whose files tell neither unit nor direction."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click

from perfanalysis.errors import UsageError
from perfanalysis.files.local_path import LocalPath
from perfanalysis.units import unit_of
from perfanalysis.workloads.kpis import Direction

INTO = click.option(
    "--into",
    type=LocalPath(),
    metavar="RUN",
    help="The run directory to make; by default one below PERF_RUNS_DIR, or ./runs.",
)
HISTORY = click.option(
    "--history",
    "folder",
    required=True,
    type=LocalPath(),
    metavar="FOLDER",
    help="The history that takes it in; it is made where there is none.",
)


SCALED: Mapping[str, tuple[str, float]] = {
    "ns": ("seconds", 1e-9),
    "us": ("seconds", 1e-6),
    "ms": ("seconds", 1e-3),
    "min": ("seconds", 60.0),
    "h": ("seconds", 3600.0),
    "%": ("ratio", 0.01),
    "percent": ("ratio", 0.01),
    "kB": ("bytes", 1e3),
    "MB": ("bytes", 1e6),
    "GB": ("bytes", 1e9),
    "KiB": ("bytes", 2.0**10),
    "MiB": ("bytes", 2.0**20),
}
"""Units that files have, each with the one that a KPI has and the factor between them."""


@dataclass(frozen=True)
class Scale:
    """The unit of a KPI, and what the file's numbers are multiplied by."""

    unit: str
    factor: float = 1.0


UNKNOWN = Scale("{unknown}")


@dataclass(frozen=True)
class KpiOverrides:
    """Patterns of KPIs' names (`*` for any letters): the first that fits counts."""

    directions: tuple[tuple[str, Direction], ...] = ()
    scales: tuple[tuple[str, Scale], ...] = ()

    def direction(self, kpi: str, otherwise: Direction = "neither") -> Direction:
        """Which way is better, by the user or else as the file or its config says."""
        return next((value for pattern, value in self.directions if fnmatch.fnmatchcase(kpi, pattern)), otherwise)

    def scale(self, kpi: str, otherwise: Scale = UNKNOWN) -> Scale:
        """The unit, by the user or else as the file says."""
        return next((value for pattern, value in self.scales if fnmatch.fnmatchcase(kpi, pattern)), otherwise)


def kpi_override_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options `--lower`, `--higher` and `--unit`."""
    options = (
        ("--unit", "units", "KPI=UNIT", "Its unit, such as 'pod_*=ms'; the same."),
        ("--higher", "higher", "KPI", "Higher is better for this KPI; the same."),
        ("--lower", "lower", "KPI", "Lower is better for this KPI; repeatable, `*` stands for any letters."),
    )
    for name, parameter, shown, text in options:
        command = click.option(name, parameter, multiple=True, metavar=shown, help=text)(command)
    return command


def kpi_overrides(lower: tuple[str, ...], higher: tuple[str, ...], units: tuple[str, ...]) -> KpiOverrides:
    """What these options say. Raises UsageError for a unit that is none."""
    directions: list[tuple[str, Direction]] = [(pattern, "lower") for pattern in lower]
    directions += [(pattern, "higher") for pattern in higher]
    return KpiOverrides(tuple(directions), tuple(_unit(text) for text in units))


def _unit(text: str) -> tuple[str, Scale]:
    pattern, _, given = text.partition("=")
    unit, factor = SCALED.get(given, (given, 1.0))
    if not pattern:
        raise UsageError(f"--unit must be such as 'pod_*=ms', not {text!r}")
    try:
        return pattern, Scale(unit_of(unit).name, factor)
    except ValueError as error:
        raise UsageError(f"--unit {text}: {error}") from error
