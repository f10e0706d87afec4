"""Bounds of the repetitions of a request, and the counts of their causes for the report."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Bounds of the repetitions of one request; times in seconds. A *sleep* that returns False ends them."""

    give_up_after_s: float = 120.0
    attempts: int = 100
    first_delay_s: float = 0.1
    longest_delay_s: float = 5.0
    longest_retry_after_s: float = 60.0
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[bool | None]] = asyncio.sleep

    def delay_s(self, attempt: int, retry_after: str | None) -> float:
        """Return the seconds to wait after the *attempt*-th attempt (from 1): the server's ``Retry-After``, else a
        growing time with jitter, so that connections that failed together do not return together."""
        if retry_after and retry_after.isdigit():
            return min(float(retry_after), self.longest_retry_after_s)
        grown = min(self.first_delay_s * 2.0 ** (attempt - 1), self.longest_delay_s)
        return grown * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, protects nothing

    def allows(self, attempt: int, elapsed_s: float, delay_s: float) -> bool:
        """Return whether another attempt may follow the *attempt*-th, *elapsed_s* after the start of the first."""
        return attempt < self.attempts and elapsed_s + delay_s < self.give_up_after_s

    async def pause(self, attempt: int, elapsed_s: float, delay_s: float) -> bool:
        """Wait until the next attempt; return False if none may follow."""
        return self.allows(attempt, elapsed_s, delay_s) and await self.sleep(delay_s) is not False


@dataclass(slots=True)
class RequestCounts:
    """A client's numbers of answered requests by status, and of repeated attempts by cause."""

    answers: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)

    def plus(self, other: RequestCounts) -> RequestCounts:
        """Return the sums of both."""
        return RequestCounts(self.answers + other.answers, self.retries + other.retries)

    def document(self) -> dict[str, dict[str, int]]:
        """Return the counts in the format of the recording."""
        return {"answers": dict(sorted(self.answers.items())), "retries": dict(sorted(self.retries.items()))}
