"""Looks at what others still change: until it rests, or until it is as expected."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

BETWEEN_LOOKS_S = 1.0


def at_rest(look: Callable[[], dict[Any, Any]], looks: int = 30) -> dict[Any, Any]:
    """What two looks in a row find alike; fails, naming what still changes, when no two do."""
    now = look()
    for _look in range(looks):
        time.sleep(BETWEEN_LOOKS_S)
        before, now = now, look()
        if now == before:
            return now
    changing = [str(name) for name in {**before, **now} if before.get(name) != now.get(name)]
    raise AssertionError(f"it does not come to rest: {', '.join(changing)}")


def last_look(
    look: Callable[[], dict[Any, Any]], is_expected: Callable[[dict[Any, Any]], bool], looks: int = 30
) -> dict[Any, Any]:
    """The first look that is as expected, else the last one, for an assertion to show."""
    found = look()
    for _look in range(looks):
        if is_expected(found):
            break
        time.sleep(BETWEEN_LOOKS_S)
        found = look()
    return found
