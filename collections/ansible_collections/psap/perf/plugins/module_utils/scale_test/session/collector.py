"""Python's garbage collector, kept from stopping the recorder for tens of milliseconds."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# what the recorder keeps lives to the end, and what it drops is in few cycles: looking through all of it again and
# again finds nothing
_THRESHOLDS = (20_000, 50, 1_000)


@contextmanager
def calm_collector() -> Iterator[None]:
    """Leave alone what is there now (in an Ansible worker half a million objects), and look at the rest seldom."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
