"""`perfdrv notify RUN`."""

from __future__ import annotations

import os
from pathlib import Path

import click
from perfdrv.command_line.completion import complete_runs
from perfdrv.command_line.session import current_runs_root, runs_dir_option
from perfdrv.errors import EXIT_FAILED, EXIT_OK, UsageError
from perfdrv.runs.store import find_run

from perfci.jobs.detection import detect
from perfci.notifying.ending import print_results
from perfci.notifying.notify import notification_of


@click.command("notify")
@click.argument("run", default="latest", shell_complete=complete_runs)
@click.option("--dry-run", is_flag=True, help="Print the messages instead of sending them.")
@click.option("--slack-channel", help="ID of the Slack channel. [default: the run's setting notify_slack_channel]")
@click.option("--slack-token", help="Reference to the token of Slack, file:NAME or env:NAME.")
@click.option("--pull", help="URL of the pull request to comment on. [default: the settings' or the CI job's]")
@click.option("--github-token", help="Reference to the token of GitHub, file:NAME or env:NAME.")
@runs_dir_option
@click.pass_context
def notify_command(
    ctx: click.Context,
    /,
    run: str,
    dry_run: bool,
    slack_channel: str | None,
    slack_token: str | None,
    pull: str | None,
    github_token: str | None,
    runs_dir: Path | None,
) -> int:
    """Send notifications about RUN: an id, the beginning of an id, a path, or `latest`.

    The run's settings notify_… select the targets and the conditions. Exit code 1: a message could not be sent.
    """
    directory = find_run(current_runs_root(ctx, runs_dir), run)
    given = {
        "notify_slack_channel": slack_channel,
        "notify_slack_token": slack_token,
        "notify_github_pull": pull,
        "github_token": github_token,
    }
    _system, job = detect(os.environ)
    notification = notification_of(directory, given, job, dry_run)
    if not notification.channels:
        raise UsageError(
            f"no notification target for {directory.name}: pass --slack-channel or --pull, or set notify_slack_channel"
        )
    done = notification.send()
    if not done:
        click.echo(f"notify  nothing: the setting notify_policy excludes {directory.name}")
    print_results(done, notification.dry_run)
    return EXIT_FAILED if any(each.error for each in done) else EXIT_OK
