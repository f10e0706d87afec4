"""Ctrl-C during a run: the first requests a stop, the second kills everything."""

from __future__ import annotations

import signal
import time
from types import FrameType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Counts SIGINT, SIGTERM and SIGHUP during its block, instead of ending the process.

    The block begins before the run directory is created, so that no directory without run.json is left. The handler
    only counts; the loop acts on the count between two events.

    Args:
        grace: Seconds after the first signal that act like a second signal; None for no limit.
    """

    def __init__(self, grace: float | None = None) -> None:
        self._grace = grace
        self._signals = 0
        self._deadline: float | None = None
        self._former: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        """Install the handlers."""
        self._former = {
            number: signal.signal(number, self._count_signal) for number in _SIGNALS if not _is_for_nohup(number)
        }
        return self

    def __exit__(self, *_error: object) -> None:
        """Restore the former handlers."""
        for number, handler in self._former.items():
            signal.signal(number, handler)

    @property
    def count(self) -> int:
        """The number of requests to stop; at least 2 after the grace."""
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return max(2, self._signals)
        return self._signals

    def _count_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1
        if self._grace is not None and self._deadline is None:
            self._deadline = time.monotonic() + self._grace


def _is_for_nohup(number: signal.Signals) -> bool:
    """Return whether the signal is the SIGHUP that nohup(1) ignores."""
    return number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
