"""Options of commands that reach an S3 store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

NAMES = ("to", "endpoint", "region", "authority", "credentials")
_HELP = {
    "endpoint": "URL of the store. [default: AWS]",
    "region": "Region of the bucket.",
    "authority": "PEM file of the trusted certificate authorities, instead of the system's.",
    "credentials": "Reference to a secret, file:NAME or env:NAME, in the format of ~/.aws/credentials. "
    "[default: boto3's search]",
}


def store_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, each also as a variable PERF_EXPORT_…."""
    for name in reversed(NAMES[1:]):
        function = click.option(f"--{name}", envvar=f"PERF_EXPORT_{name.upper()}", help=_HELP[name])(function)
    return function


def given_store(params: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the values of the options and of `--to`, by the names of the settings without `export_`."""
    return {name: params.get(name) for name in NAMES}
