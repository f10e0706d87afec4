"""Check names and sizes that otherwise only the API server would refuse, long after the start of the test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.quantities import parse_quantity

MOST_WORKLOADS = 1_000_000
"""The limit of one submission, whose recording keeps a row of each workload in memory."""
# Kubernetes' limit for an indexed Job
_MOST_PODS = 100_000
_MOST_CONNECTIONS = 4096
_MOST_SUBMITTERS = 64
RANGES: Mapping[str, tuple[int, int]] = {
    "count": (1, MOST_WORKLOADS),
    "pods": (1, _MOST_PODS),
    "connections": (0, _MOST_CONNECTIONS),
    "submitters": (1, _MOST_SUBMITTERS),
}

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def check_ranges(load: object) -> None:
    """Check the attributes of *load* that the table above lists.

    Raises:
        UsageError: If a number is out of its range.
    """
    for name, (least, most) in RANGES.items():
        number = getattr(load, name)
        if number < least:
            raise UsageError(f"{name} is {number}; it must be at least {least}")
        if number > most:
            raise UsageError(f"{name} is {number}; it must be at most {most}")


def check_namespace(name: str) -> None:
    """Check the name of a namespace.

    Raises:
        UsageError: If it is invalid.
    """
    if not _LABEL.fullmatch(name):
        raise UsageError(f"{name!r} is not a valid name of a namespace: write a-z, 0-9 and -, at most 63 of them")


def check_claim_size(size: str) -> None:
    """Check the size of a volume; empty is no volume.

    Raises:
        UsageError: If it is invalid.
    """
    if size and parse_quantity(size) <= 0:
        raise UsageError(f"{size!r} is not a size of a volume: it must be above 0")


def positive_seconds(duration: object) -> float:
    """Return the seconds of *duration*.

    Raises:
        UsageError: If it is 0, or no duration.
    """
    found = seconds(duration)
    if found <= 0:
        raise UsageError(f"{duration!r} must be above 0")
    return found


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Put the name of the *argument* before the message of a `UsageError` raised inside."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{argument}: {error}") from error
