"""Asking again and again for what no Kubernetes API watches."""

from __future__ import annotations

import time
from collections.abc import Callable

from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError

_POLL_S = 0.2


def poll_until(
    look: Callable[[], tuple[bool, str]],
    otherwise: str,
    timeout_s: float,
    check: Callable[[], None],
    show: Callable[[str], None],
    *,
    pause_s: float = 1.0,
    longest_pause_s: float = 30.0,
) -> None:
    """Call *look* until it says that it is done; it also says what there is instead, which is shown.

    :param otherwise: what was not reached, for the error.
    :param check: raises when the user asked to stop.
    :param pause_s: between two calls, each time half as much more until *longest_pause_s*.
    :raises WaitTimeoutError: when time is up.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        done, said = look()
        if done:
            return
        show(said)
        now = time.monotonic()
        if now >= deadline:
            raise WaitTimeoutError(f"{otherwise} within {timeout_s:.0f} s: {said}")
        pass_time(min(pause_s, deadline - now), check)
        pause_s = min(1.5 * pause_s, longest_pause_s)


def pass_time(duration_s: float, check: Callable[[], None]) -> None:
    """Let so much time pass.

    :param check: raises when the user asked to stop.
    """
    until = time.monotonic() + duration_s
    while (left_s := until - time.monotonic()) > 0:
        check()
        time.sleep(min(left_s, _POLL_S))
