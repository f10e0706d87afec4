"""Poll for states that cannot be watched by a Kubernetes API."""

from __future__ import annotations

import time
from collections.abc import Callable

from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError

_POLL_S = 0.2


def poll_until(
    read: Callable[[], tuple[bool, str]],
    otherwise: str,
    timeout_s: float,
    check: Callable[[], None],
    show: Callable[[str], None],
    *,
    pause_s: float = 1.0,
    longest_pause_s: float = 30.0,
) -> None:
    """Call *read* until its first result is true; pass its second, the present state, to *show*.

    Args:
        otherwise: Begin of the error's message.
        check: Raises if the user interrupts the run.
        pause_s: Pause between two calls, which grows by half each time up to *longest_pause_s*.

    Raises:
        WaitTimeoutError: If the time is over.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        done, state = read()
        if done:
            return
        show(state)
        now = time.monotonic()
        if now >= deadline:
            raise WaitTimeoutError(f"{otherwise} within {timeout_s:.0f} s: {state}")
        pass_time(min(pause_s, deadline - now), check)
        pause_s = min(1.5 * pause_s, longest_pause_s)


def pass_time(duration_s: float, check: Callable[[], None]) -> None:
    """Sleep for *duration_s*, and call *check* meanwhile, which raises if the user interrupts the run."""
    until = time.monotonic() + duration_s
    while (left_s := until - time.monotonic()) > 0:
        check()
        time.sleep(min(left_s, _POLL_S))
