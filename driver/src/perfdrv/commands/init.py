"""`perfdrv init`: a project for the installed collection."""

from __future__ import annotations

from pathlib import Path

import click
from perfanalysis.files.local_path import LocalPath

from perfdrv.collection import INSTALLED
from perfdrv.commands.creating import Files
from perfdrv.errors import UsageError
from perfdrv.project import shown_path

_STARTER = Path(__file__).resolve().parents[1] / "starter"
_SITES = ("local", "lab")


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=LocalPath(file_okay=False))
def init(folder: Path) -> None:
    """Create a project in DIR, by default the working directory.

    A project has your sites, presets, flows and runs. Flows, commands and presets of the installed collection are
    available in it. Existing files are never overwritten.

    \b
    perfdrv init my-tests
    cd my-tests
    perfdrv run scale_test --site lab -p example    # on a lab: perflab up
    """
    if not INSTALLED.is_dir():
        raise UsageError(
            "perfdrv init needs an installed psap-perf (pip install psap-perf); this driver belongs to a clone of "
            "the repository, which is a project"
        )
    files = Files(folder)
    for path, source in _sources().items():
        files.add(path, source.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    files.write()
    for path in files.added:
        click.echo(f"created  {shown_path(folder / path)}")
    click.echo("next:")
    if folder.resolve() != Path.cwd():
        click.echo(f"  cd {shown_path(folder)}")
    click.echo("  perfdrv settings check")
    click.echo("  perfdrv run scale_test --site lab -p example    # on a lab: perflab up")


def _sources() -> dict[Path, Path]:
    """Return the files to copy by their place in the project."""
    sites = {
        Path("inventories", site, path.name): path
        for site in _SITES
        for path in sorted((INSTALLED / "inventories" / site).iterdir())
    }
    return {
        Path("ansible.cfg"): INSTALLED / "ansible.cfg",
        **sites,
        Path("presets/example.yml"): _STARTER / "presets" / "example.yml",
        Path("README.md"): _STARTER / "README.md",
        Path(".gitignore"): _STARTER / "gitignore",
    }
