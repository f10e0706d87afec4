"""`perfdrv demo`: one run on a dedicated lab, in any folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click
import yaml
from perfanalysis.files.local_path import LocalPath
from perflab.cli import lab

from perfdrv.ansible.pseudo_terminal import require_pseudo_terminal
from perfdrv.collection import INSTALLED, collection_of
from perfdrv.command_line.groups import Session, project_root
from perfdrv.commands.run import run
from perfdrv.commands.runs import open_command
from perfdrv.errors import EXIT_OK, UsageError

_LAB = "PERF_LAB"


@click.command(short_help="Measure a lab with simulated GPU nodes.")
@click.option("--name", help="Use this running lab. [default: start a lab, and stop it at the end]")
@click.option("--open/--no-open", "opens", default=False, help="Open the report in a browser. [default: --no-open]")
@click.option("--runs-dir", type=LocalPath(file_okay=False), envvar="PERF_RUNS_DIR",
              help="Folder of all runs. [default: runs/ of the project, else of the working directory]")  # fmt: skip
@click.pass_context
def demo(ctx: click.Context, name: str | None, opens: bool, runs_dir: Path | None) -> int:
    """Start a lab, run the scale test on it, stop the lab, and print the path of the report.

    No hardware, cluster or project is required. The first call compiles the programs of the lab, which takes minutes.
    """
    # known before the programs of the lab are compiled
    require_pseudo_terminal()
    session = _session(ctx)
    root = project_root(ctx) if session is None else INSTALLED
    folder = runs_dir if session is None else runs_dir or Path("runs")
    about = yaml.safe_load((collection_of(root) / "meta" / "demo.yml").read_text(encoding="utf-8"))
    words = [word for preset in about["presets"] for word in ("--preset", preset)]
    words += [] if folder is None else ["--runs-dir", str(folder)]
    started = None if name else f"demo-{os.getpid()}"
    os.environ[_LAB] = name or started or ""
    try:
        if started:
            lab.main(["up", "--name", started, *about["lab"]], prog_name="perflab", standalone_mode=False)
        return _measure(session or ctx.find_root().obj, [about["flow"], "--site", about["site"], *words], folder, opens)
    finally:
        if started:
            lab.main(["down", "--name", started], prog_name="perflab", standalone_mode=False)


def _session(ctx: click.Context) -> Session | None:
    """Return the session of the installed collection as a project; None in a project."""
    try:
        project_root(ctx)
    except UsageError:
        if not INSTALLED.is_dir():
            raise
        return Session(project=INSTALLED, debug=ctx.find_root().obj.debug)
    return None


def _measure(session: Session, words: Sequence[str], folder: Path | None, opens: bool) -> int:
    code = run.main(list(words), prog_name="perfdrv run", standalone_mode=False, obj=session)
    if opens and code == EXIT_OK:
        where = [] if folder is None else ["--runs-dir", str(folder)]
        open_command.main(["latest", *where], prog_name="perfdrv runs open", standalone_mode=False, obj=session)
    return int(code or EXIT_OK)
