"""How long a request is repeated, and why it was: the causes are counted for the report."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Bounds of the repetitions of one request; times in seconds. *monotonic* and *sleep* are how time passes; a
    *sleep* that returns False ends the repetitions."""

    give_up_after_s: float = 120.0
    attempts: int = 100
    first_delay_s: float = 0.1
    longest_delay_s: float = 5.0
    longest_retry_after_s: float = 60.0
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[bool | None]] = asyncio.sleep

    def delay_s(self, attempt: int, retry_after: str | None) -> float:
        """How long to wait after the *attempt*-th try (from 1): what the server asked for, else a growing
        time with jitter, so that connections that failed together do not come back together."""
        if retry_after and retry_after.isdigit():
            return min(float(retry_after), self.longest_retry_after_s)
        grown = min(self.first_delay_s * 2.0 ** (attempt - 1), self.longest_delay_s)
        return grown * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, protects nothing

    def allows(self, attempt: int, elapsed_s: float, delay_s: float) -> bool:
        """Whether another try may follow the *attempt*-th, made *elapsed_s* after the first began."""
        return attempt < self.attempts and elapsed_s + delay_s < self.give_up_after_s

    async def pause(self, attempt: int, elapsed_s: float, delay_s: float) -> bool:
        """Wait until the try after the *attempt*-th; False when no other may follow."""
        return self.allows(attempt, elapsed_s, delay_s) and await self.sleep(delay_s) is not False


@dataclass(slots=True)
class RequestCounts:
    """What a client met: requests answered by status, and tries that had to be repeated by cause."""

    answers: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)

    def plus(self, other: RequestCounts) -> RequestCounts:
        """Those of both."""
        return RequestCounts(self.answers + other.answers, self.retries + other.retries)

    def document(self) -> dict[str, dict[str, int]]:
        """The counts as the recording keeps them."""
        return {"answers": dict(sorted(self.answers.items())), "retries": dict(sorted(self.retries.items()))}
