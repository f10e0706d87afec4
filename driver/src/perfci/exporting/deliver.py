"""The export of a run after its end, by its settings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import ExportSettings
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run
from perfanalysis.errors import AnalysisError
from perfdrv.errors import EXIT_FAILED, EXIT_OK, DriverError
from perfdrv.runs.store import run_word

from perfci.exporting.mlflow import TrackingSettings, export_to_mlflow
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
        whole: Whether the run is complete; if not, files that are missing here remain in an earlier export, and nothing
            is exported to MLflow.
    """
    if not (run / "settings.yml").is_file():
        # the run was refused
        return Delivery()
    values = values_of_run(run)
    store, tracking = ExportSettings.of(values), TrackingSettings.of(values)
    again = f"try again with: perfdrv export {run_word(run)}"
    done = _deliver_to("export", again, lambda: str(export(run, store, whole=whole).place)) if store.to else Delivery()
    if not tracking.url or not whole:
        return done
    other = _deliver_to("mlflow", again, lambda: export_to_mlflow(run, tracking))
    return Delivery(done.place or other.place, done.lost or other.lost)


def _deliver_to(what: str, again: str, send: Callable[[], str]) -> Delivery:
    """Send an export and print its place, or why it was lost."""
    try:
        done = Delivery(place=send())
    except (PerfError, DriverError, AnalysisError) as error:
        done = Delivery(lost=f"failed: {error}; {again}")
    except KeyboardInterrupt:
        done = Delivery(lost=f"not finished; {again}")
    # the reader of the output may have closed it
    with contextlib.suppress(OSError):
        click.echo(f"{what:7} {done.place or done.lost}")
    return done
