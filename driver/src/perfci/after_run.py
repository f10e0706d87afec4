"""What follows a run that `perfdrv` has ended; the entry point names this function."""

from __future__ import annotations

from perfdrv.errors import EXIT_OK
from perfdrv.execution.after_run import EndedRun

from perfci.exporting.deliver import deliver
from perfci.notifying.ending import notify


def export_and_notify(run: EndedRun) -> int:
    """Export a run and send its notifications, as its settings configure; return 1 if the export failed, otherwise 0.

    No notification is sent about a run that was only finalized.
    """
    delivery = deliver(run.directory)
    if not run.finalized:
        notify(run.directory)
    return delivery.exit_code(EXIT_OK)
