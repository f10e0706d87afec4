"""Configure Python's garbage collector so that it does not stop the recorder for tens of milliseconds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# the recorder keeps its objects to the end and creates few reference cycles, so frequent collections find nothing
_THRESHOLDS = (20_000, 50, 1_000)


@contextmanager
def calm_collector() -> Iterator[None]:
    """Exclude existing objects (half a million in an Ansible worker), and collect the others rarely."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
