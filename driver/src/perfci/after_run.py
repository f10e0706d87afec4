"""What follows a run that `perfdrv` has ended; the entry point names this function."""

from __future__ import annotations

from perfdrv.errors import EXIT_OK
from perfdrv.execution.after_run import EndedRun

from perfci.exporting.deliver import deliver
from perfci.judging.ending import judge_ended
from perfci.notifying.ending import notify


def export_and_notify(run: EndedRun) -> int:
    """Judge a run by its history, export it, and send its notifications, as its settings configure.

    A run that was only finalized is neither judged nor notified.

    Returns:
        The exit code of the verdict, or 1 if the export failed, otherwise 0.
    """
    code = EXIT_OK if run.finalized else judge_ended(run.directory, pull_request=False).exit_code
    delivery = deliver(run.directory)
    if not run.finalized:
        notify(run.directory)
    return delivery.exit_code(code)
