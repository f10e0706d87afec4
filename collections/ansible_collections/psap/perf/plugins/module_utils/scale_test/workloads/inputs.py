"""What users write into a load that only the API server would refuse, long after the test began: names and sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.quantities import parse_quantity

MOST_WORKLOADS = 1_000_000
"""Of one submission: its recording keeps a row of each in memory."""
# as many as Kubernetes lets an indexed Job have
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
    """:raises UsageError: when a number of *load*, which has the attributes of the table above, is out of its range."""
    for name, (least, most) in RANGES.items():
        number = getattr(load, name)
        if number < least:
            raise UsageError(f"{name} is {number}; it must be at least {least}")
        if number > most:
            raise UsageError(f"{name} is {number}; it must be at most {most}")


def check_namespace(name: str) -> None:
    """:raises UsageError: when no namespace can have this name."""
    if not _LABEL.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a namespace: write a-z, 0-9 and -, at most 63 of them")


def check_claim_size(size: str) -> None:
    """:raises UsageError: when a volume cannot have this size; empty is none at all."""
    if size and parse_quantity(size) <= 0:
        raise UsageError(f"{size!r} is no size of a volume: it must be above 0")


def positive_seconds(duration: object) -> float:
    """The seconds of a duration that cannot be 0.

    :raises UsageError: when it is, or is no duration.
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
