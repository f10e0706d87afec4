"""`perfdrv generators`."""

from __future__ import annotations

import click
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.serving.evaluation import INSTALLABLE
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.installing import (
    Installable,
    environment,
    install,
    is_installed,
    remove,
)

from perfdrv.command_line.tables import print_table
from perfdrv.errors import DriverError

_INSTALLED = tuple(name for name, generator in INSTALLABLE.items() if generator.installation)
_NAME = click.argument("name", type=click.Choice(_INSTALLED))


@click.group()
def generators() -> None:
    """List, install and remove load generators of served models, and lm-eval, which measures their accuracy.

    Each has a dedicated environment in psap-perf/generators of ~/.cache.
    """


@generators.command("list")
def list_generators() -> None:
    """List the programs, with size and time of an installation."""
    print_table(("generator", "version", "size", "time", "environment"), map(_row, INSTALLABLE.values()))


def _row(generator: Installable) -> list[str]:
    wanted = generator.installation
    if wanted is None:
        return [generator.name, "", "", "", "no package; set the path of its program"]
    place = str(environment(generator)) if is_installed(generator) else "no"
    return [generator.name, wanted.version, f"{wanted.gigabytes:g} GB", f"{wanted.minutes:g} min", place]


@generators.command("install")
@_NAME
def install_generator(name: str) -> None:
    """Install the program NAME, unless it is installed."""
    try:
        install(INSTALLABLE[name], click.echo)
    except (PerfError, OSError) as error:
        raise DriverError(str(error)) from error


@generators.command("remove")
@_NAME
def remove_generator(name: str) -> None:
    """Remove the program NAME."""
    removed = remove(INSTALLABLE[name])
    click.echo(f"{name} {'removed' if removed else 'is not installed'}")
