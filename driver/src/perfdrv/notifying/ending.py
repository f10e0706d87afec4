"""Telling of a run at its end, and saying on the terminal what came of that."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import click

from perfdrv.ci.job import Job
from perfdrv.notifying.notify import Told, notification_of
from perfdrv.runs.store import run_word


def tell_of(run: Path, job: Job | None = None) -> None:
    """Tell people of a run as its settings ask. That it was lost is said, and changes nothing."""
    if not (run / "settings.yml").is_file():
        # nothing began
        return
    notification = notification_of(run, {}, job)
    try:
        say(notification.send(), notification.dry_run)
    except KeyboardInterrupt:
        click.echo(f"notify  not finished; try again with: perfdrv notify {run_word(run)}")


def say(done: Iterable[Told], dry_run: bool) -> None:
    """Print what became of notifications, and in a dry run what they would say."""
    # whoever read the output may be gone
    with contextlib.suppress(OSError):
        for each in done:
            if each.error:
                click.echo(f"notify  {each.channel} lost: {each.error}", err=True)
            elif dry_run:
                click.echo(f"notify  {each.channel}, {each.to} (dry run):\n{each.text}")
            else:
                click.echo(f"notify  {each.channel}: {each.to}")
