"""The requests that a load generator counted, and whether they are a measurement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of requests that ended, how many of them failed, and the reason of the first failure."""

    requests: int
    failed: int
    reason: str


@contextmanager
def reading_results(generator: str, file: str) -> Iterator[None]:
    """Replace the errors of a block that reads the results of a generator.

    Raises:
        DataQualityError: If the file is missing or damaged.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise DataQualityError(f"{generator} left no {file}") from error
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise DataQualityError(f"{file} of {generator} cannot be read: {error}") from error


def conclusive(counts: Counts) -> Counts:
    """Return the counts.

    Raises:
        DataQualityError: If no request ended, or all failed.
    """
    if not counts.requests:
        raise DataQualityError("no request ended within the load")
    if counts.failed == counts.requests:
        raise DataQualityError(f"all {counts.failed} requests failed; the first: {counts.reason[:300]}")
    return counts
