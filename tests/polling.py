"""Wait in tests for changes by other processes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import TypeVar

# a hanging process is reported; a busy machine must not fail a test
PATIENCE_S = 300.0
_INTERVAL_S = 0.1

T = TypeVar("T")


def wait_until(found: Callable[[], T], *, during: subprocess.Popen[str] | None = None) -> T:
    """Call *found* until it returns something true.

    Args:
        found: Reads the awaited state.
        during: Process that must not end before that; its standard output is in the error.

    Returns:
        What *found* returned.

    Raises:
        AssertionError: If *found* returned nothing true within `PATIENCE_S`, or if the process ended.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not (value := found()):
        assert time.monotonic() < deadline, "the awaited state was not reached"
        assert during is None or during.poll() is None, during.communicate()[0]
        time.sleep(_INTERVAL_S)
    return value
