"""What follows a run that has ended, by its settings: it is exported."""

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
    """What came of the export of a run.

    Attributes:
        place: where it is; empty where nobody asked for it, or it was lost.
        lost: why it is not there.
    """

    place: str = ""
    lost: str = ""

    def exit_code(self, of_run: int) -> int:
        """That of the run, or 1 where only the export failed."""
        return of_run or (EXIT_FAILED if self.lost else EXIT_OK)


def deliver(run: Path, whole: bool = True) -> Delivery:
    """Export a run, as its settings ask, and say what came of it.

    Args:
        whole: whether all of the run is here; what a part lacks stays as an earlier export has it.
    """
    if not (run / "settings.yml").is_file():
        # nothing began
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
    # whoever read the output may be gone
    with contextlib.suppress(OSError):
        click.echo(f"export  {done.place or done.lost}")
    return done
