"""Read state that other processes still change: until it is stable, or as expected."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PAUSE_S = 1.0


def read_stable(read: Callable[[], dict[Any, Any]], attempts: int = 30) -> dict[Any, Any]:
    """Read until two consecutive results are equal; fail with the names of what still changes."""
    now = read()
    for _attempt in range(attempts):
        time.sleep(PAUSE_S)
        before, now = now, read()
        if now == before:
            return now
    changing = [str(name) for name in {**before, **now} if before.get(name) != now.get(name)]
    raise AssertionError(f"still changing: {', '.join(changing)}")


def read_until_expected(
    read: Callable[[], dict[Any, Any]], is_expected: Callable[[dict[Any, Any]], bool], attempts: int = 30
) -> dict[Any, Any]:
    """Return the first result that is as expected, else the last one, for an assertion to show."""
    found = read()
    for _attempt in range(attempts):
        if is_expected(found):
            break
        time.sleep(PAUSE_S)
        found = read()
    return found
