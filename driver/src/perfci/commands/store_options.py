"""Options of commands that reach an S3 store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

NAMES = ("to", "endpoint", "region", "authority", "credentials")
_HELP = {
    "endpoint": "URL of the store; AWS's own by default.",
    "region": "Region of the bucket.",
    "authority": "PEM file of the certificate authorities that are trusted instead of the system's.",
    "credentials": "Reference to a secret, file:NAME or env:NAME, with a file as the program aws keeps it; "
    "what boto3 finds by default.",
}


def store_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add them to a command: `--endpoint` and its like, each also as PERF_EXPORT_…, so that they can be set for all."""
    for name in reversed(NAMES[1:]):
        function = click.option(f"--{name}", envvar=f"PERF_EXPORT_{name.upper()}", help=_HELP[name])(function)
    return function


def given_store(params: Mapping[str, Any]) -> dict[str, str | None]:
    """What was given of them, and `to`, by the names of the settings without `export_`."""
    return {name: params.get(name) for name in NAMES}
