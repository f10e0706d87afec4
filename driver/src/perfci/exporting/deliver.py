"""The export of a run after its end, by its settings."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import click
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import ExportSettings
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run
from perfdrv.errors import EXIT_FAILED, EXIT_OK, DriverError
from perfdrv.runs.store import run_word

from perfci.exporting.runs import export


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result of an export.

    Attributes:
        place: Where the export is; empty if none is configured, or it was lost.
        lost: Why it was lost; empty if it was not.
    """

    place: str = ""
    lost: str = ""

    def exit_code(self, of_run: int) -> int:
        """Return the exit code of the run, or 1 if only the export failed."""
        return of_run or (EXIT_FAILED if self.lost else EXIT_OK)


def deliver(run: Path, whole: bool = True) -> Delivery:
    """Export a run if its settings configure that, and print the result.

    Args:
        whole: Whether the run is complete; if not, files that are missing here remain in an earlier export.
    """
    if not (run / "settings.yml").is_file():
        # the run was refused
        return Delivery()
    settings = ExportSettings.of(values_of_run(run))
    if not settings.to:
        return Delivery()
    try:
        done = Delivery(place=str(export(run, settings, whole=whole).place))
    except (PerfError, DriverError) as error:
        done = Delivery(lost=f"failed: {error}; try again with: perfdrv export {run_word(run)}")
    except KeyboardInterrupt:
        done = Delivery(lost=f"not finished; finish it with: perfdrv export {run_word(run)}")
    # the reader of the output may have closed it
    with contextlib.suppress(OSError):
        click.echo(f"export  {done.place or done.lost}")
    return done
