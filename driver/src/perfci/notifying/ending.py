"""Telling of a run at its end, and saying on the terminal what came of that."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
from perfdrv.runs.store import run_word

from perfci.jobs.job import Job
from perfci.notifying.notify import PREFIX, Notification, NotificationResult, notification_of


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


def tell_of_refusal(settings: Mapping[str, Any], job: Job, why: str) -> None:
    """Tell people, as the settings of a job ask, that it was refused before it came to a run."""
    dry_run = bool(settings.get(f"{PREFIX}dry_run"))
    notification = Notification(job.artifacts / job.identity, settings, job, dry_run, why)
    try:
        say(notification.send(), notification.dry_run)
    except KeyboardInterrupt:
        click.echo("notify  not finished")


def say(done: Iterable[NotificationResult], dry_run: bool) -> None:
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
