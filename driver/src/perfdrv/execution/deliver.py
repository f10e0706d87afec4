"""What follows a run that has ended, by its settings: it is exported, and people are told."""

from __future__ import annotations

import contextlib

import click
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import ExportSettings
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run

from perfdrv.errors import EXIT_FAILED, EXIT_OK, DriverError
from perfdrv.exporting.runs import export
from perfdrv.runs.outcome import Outcome
from perfdrv.runs.tree import RunTree


def deliver(outcome: Outcome, code: int, folders: tuple[str, ...] = ()) -> int:
    """Export a run, as its settings ask; returns the exit code: the run's own, or 1 where only the export failed.

    Args:
        folders: around that of the run in the export, such as those of a CI job.
    """
    if not (outcome.directory / "settings.yml").is_file() or not RunTree(outcome.directory).steps():
        # nothing began
        return code
    settings = ExportSettings.of(values_of_run(outcome.directory))
    if not settings.to:
        return code
    try:
        said, ended = str(export(outcome.directory, settings, folders).place), EXIT_OK
    except (PerfError, DriverError) as error:
        said = f"failed: {error}; try again with: perfdrv export {outcome.directory.name}"
        ended = EXIT_FAILED
    except KeyboardInterrupt:
        said, ended = f"not finished; finish it with: perfdrv export {outcome.directory.name}", EXIT_FAILED
    # whoever read the output may be gone
    with contextlib.suppress(OSError):
        click.echo(f"export  {said}")
    return code or ended
