"""`perfdrv generators`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.evaluation import installable_of, installables
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.installing import (
    Installable,
    environment,
    install,
    is_installed,
    remove,
)
from click.shell_completion import CompletionItem

from perfdrv.command_line.tables import print_table
from perfdrv.errors import DriverError
from perfdrv.errors import UsageError as DriverUsageError


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    names = (name for name, generator in installables().items() if generator.installation)
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


_NAME = click.argument("name", shell_complete=_complete)


@contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        raise DriverUsageError(str(error)) from error
    except (PerfError, OSError) as error:
        raise DriverError(str(error)) from error


@click.group()
def generators() -> None:
    """List, install and remove load generators of served models, and lm-eval, which measures their accuracy.

    Each has a dedicated environment in psap-perf/generators of ~/.cache.
    """


@generators.command("list")
def list_generators() -> None:
    """List the programs, with size and time of an installation."""
    with _reported():
        rows = [_row(generator) for generator in installables().values()]
    print_table(("generator", "version", "size", "time", "environment"), rows)


def _row(generator: Installable) -> list[str]:
    wanted = generator.installation
    if wanted is None:
        return [generator.name, "", "", "", f"the program {generator.program} in the PATH"]
    place = str(environment(generator)) if is_installed(generator) else "no"
    return [generator.name, wanted.version, f"{wanted.gigabytes:g} GB", f"{wanted.minutes:g} min", place]


@generators.command("install")
@_NAME
def install_generator(name: str) -> None:
    """Install the program NAME, unless it is installed."""
    with _reported():
        install(installable_of(name), click.echo)


@generators.command("remove")
@_NAME
def remove_generator(name: str) -> None:
    """Remove the program NAME."""
    with _reported():
        removed = remove(installable_of(name))
    click.echo(f"{name} {'removed' if removed else 'is not installed'}")
