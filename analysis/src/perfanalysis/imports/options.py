"""Options of the import commands, and the user's declarations of units and directions that files do not state."""

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
    help="Run directory to create. [default: a new one in PERF_RUNS_DIR or ./runs]",
)
HISTORY = click.option(
    "--history",
    "folder",
    required=True,
    type=LocalPath(),
    metavar="FOLDER",
    help="History to append to; created if missing.",
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
"""Units in files, each with the unit of a KPI and the factor between them."""


@dataclass(frozen=True)
class Scale:
    """The unit of a KPI, and the factor for the file's numbers."""

    unit: str
    factor: float = 1.0


UNKNOWN = Scale("{unknown}")


@dataclass(frozen=True)
class KpiOverrides:
    """Patterns of KPIs' names (`*` matches any characters): the first match is used."""

    directions: tuple[tuple[str, Direction], ...] = ()
    scales: tuple[tuple[str, Scale], ...] = ()

    def direction(self, kpi: str, otherwise: Direction = "neither") -> Direction:
        """Return which direction is better: by the user, else by the file or its config."""
        return next((value for pattern, value in self.directions if fnmatch.fnmatchcase(kpi, pattern)), otherwise)

    def scale(self, kpi: str, otherwise: Scale = UNKNOWN) -> Scale:
        """Return the unit: by the user, else by the file."""
        return next((value for pattern, value in self.scales if fnmatch.fnmatchcase(kpi, pattern)), otherwise)


def kpi_override_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `--lower`, `--higher` and `--unit`."""
    options = (
        ("--unit", "units", "KPI=UNIT", "Unit of matching KPIs, such as 'pod_*=ms'; repeatable."),
        (
            "--higher",
            "higher",
            "KPI",
            "KPIs of which a higher value is better; repeatable, `*` matches any characters.",
        ),
        ("--lower", "lower", "KPI", "KPIs of which a lower value is better; repeatable, `*` matches any characters."),
    )
    for name, parameter, shown, text in options:
        command = click.option(name, parameter, multiple=True, metavar=shown, help=text)(command)
    return command


def kpi_overrides(lower: tuple[str, ...], higher: tuple[str, ...], units: tuple[str, ...]) -> KpiOverrides:
    """Return the declarations of these options. Raises UsageError for an unknown unit."""
    directions: list[tuple[str, Direction]] = [(pattern, "lower") for pattern in lower]
    directions += [(pattern, "higher") for pattern in higher]
    return KpiOverrides(tuple(directions), tuple(_unit(text) for text in units))


def _unit(text: str) -> tuple[str, Scale]:
    pattern, _, given = text.partition("=")
    unit, factor = SCALED.get(given, (given, 1.0))
    if not pattern:
        raise UsageError(f"--unit {text!r}: write NAME=UNIT, such as 'pod_*=ms'")
    try:
        return pattern, Scale(unit_of(unit).name, factor)
    except ValueError as error:
        raise UsageError(f"--unit {text}: {error}") from error
