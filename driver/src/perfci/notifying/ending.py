"""Notifications at the end of a run or job, and their output on the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
from perfdrv.runs.store import run_word

from perfci.jobs.job import Job
from perfci.notifying.notify import PREFIX, Notification, NotificationResult, notification_of


def notify(run: Path, job: Job | None = None) -> None:
    """Send notifications about a run by its settings, and print the results; a lost one is no error."""
    if not (run / "settings.yml").is_file():
        # the run was refused
        return
    notification = notification_of(run, {}, job)
    try:
        print_results(notification.send(), notification.dry_run)
    except KeyboardInterrupt:
        click.echo(f"notify  not finished; try again with: perfdrv notify {run_word(run)}")


def notify_refusal(settings: Mapping[str, Any], job: Job, why: str) -> None:
    """Send notifications about a job that was refused before its run, by the settings of the job."""
    dry_run = bool(settings.get(f"{PREFIX}dry_run"))
    notification = Notification(job.artifacts / job.identity, settings, job, dry_run, why)
    try:
        print_results(notification.send(), notification.dry_run)
    except KeyboardInterrupt:
        click.echo("notify  not finished")


def print_results(done: Iterable[NotificationResult], dry_run: bool) -> None:
    """Print the results of notifications, and in a dry run their texts."""
    # the reader of the output may have closed it
    with contextlib.suppress(OSError):
        for each in done:
            if each.error:
                click.echo(f"notify  {each.channel} lost: {each.error}", err=True)
            elif dry_run:
                click.echo(f"notify  {each.channel}, {each.to} (dry run):\n{each.text}")
            else:
                click.echo(f"notify  {each.channel}: {each.to}")
