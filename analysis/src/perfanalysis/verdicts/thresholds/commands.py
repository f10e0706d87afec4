"""The commands `judge` and `measures`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.verdicts.thresholds.threshold import declared_measures, parse_words
from perfanalysis.verdicts.thresholds.write import check_thresholds, judge_run, thresholds_of_settings
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.options import OUTPUT, RUN, WORKLOADS
from perfanalysis.workloads.run_analysis import report_directory


@click.command("judge")
@RUN
@WORKLOADS
@click.option(
    "--threshold",
    "words",
    multiple=True,
    metavar="NAME=LIMIT",
    help="Limit of a measure, such as time_to_ready_p99=5s, 'submission_rate>=20/s' or lost=0; repeatable.",
)
@click.option(
    "--thresholds-from",
    type=click.Choice(["settings"]),
    help="Use the thresholds in the run's settings; --threshold overrides single ones.",
)
@click.option("--allow-unjudged", is_flag=True, help="Do not fail if a measure has too few values.")
@OUTPUT
def judge_command(
    run: Path,
    kinds: Kinds,
    words: tuple[str, ...],
    thresholds_from: str | None,
    allow_unjudged: bool,
    output: Path | None,
) -> None:
    """Judge RUN against thresholds; write verdict.json and junit.xml.

    `perfanalysis measures` lists the measures; the next report shows the verdict. Exit code 4: a threshold was missed.
    5: workloads were lost or are not accounted for. 6: a measure has too few values.
    """
    given = thresholds_of_settings(run) if thresholds_from is not None else {}
    thresholds = {**given, **parse_words(words)}
    check_thresholds(thresholds, kinds)
    made = judge_run(run, thresholds, report_directory(run, output, kinds), kinds, unjudged_allowed=allow_unjudged)
    for outcome in ("met", "missed", "not judged"):
        for sentence in made.verdict.of(outcome):
            click.echo(f"{outcome}: {sentence}")
    click.echo(f"Verdict: {made.json}")
    error = made.verdict.error
    if error is not None:
        raise error


@click.command("measures")
@WORKLOADS
def measures_command(kinds: Kinds) -> None:
    """List the measures that thresholds can limit, with unit and better direction."""
    for name, measure in sorted(declared_measures(kinds).items()):
        click.echo(f"{name:30} {measure.unit:12} {measure.direction:8} {measure.help}")
