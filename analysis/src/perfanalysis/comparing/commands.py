"""The command `compare`."""

from __future__ import annotations

from pathlib import Path

import click

from perfanalysis.errors import UsageError


def share(text: str) -> float:
    """A share such as `5%` or `0.05`; raises UsageError when it is none."""
    number = text.strip().removesuffix("%")
    try:
        value = float(number) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 10:
        raise UsageError(f"--margin {text}: write a share such as 5% or 0.05")
    return value


@click.command("compare")
@click.argument("run_a", type=click.Path(path_type=Path))
@click.argument("run_b", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the JSON document instead of the tables.")
@click.option("--margin", default="5%", show_default=True, help="Changes smaller than this share of A do not matter.")
@click.option("--force", is_flag=True, help="Compare although settings that must be equal differ.")
@click.option("--fail-on-worse", is_flag=True, help="Exit code 4 when something is worse in B.")
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="DIR", help="Where to write; by default RUN_B/report."
)
def compare_command(
    run_a: Path, run_b: Path, as_json: bool, margin: str, force: bool, fail_on_worse: bool, output: Path | None
) -> None:
    """Compare RUN_B with RUN_A: what is better, worse or the same, by how much, and how surely.

    Recordings are compared whose settings marked as keys are equal. comparison.json and comparison.html are written.
    Exit code 2 when settings differ.
    """
    from perfanalysis.comparing.comparison import compare_runs
    from perfanalysis.comparing.write import write_comparison
    from perfanalysis.pipeline import report_directory

    comparison = compare_runs(run_a, run_b, force=force, margin=share(margin))
    document, page = write_comparison(comparison, report_directory(run_b, output))
    if as_json:
        click.echo(document.read_text(), nl=False)
    else:
        from perfanalysis.comparing.terminal import console_for_output, print_comparison

        print_comparison(comparison, console_for_output())
        click.echo(f"Page: {page}")
    error = comparison.error()
    if fail_on_worse and error is not None:
        raise error
