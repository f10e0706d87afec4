"""The number of concurrent requests of a submission: fixed, or as many as the API server accepts.

The second is similar to TCP's congestion control. It starts with a number that any API server accepts, and doubles it
while the rate grows (slow start, RFC 5681, but ended by the rate, since an API server queues long before it refuses).
Then it adds one at a time while the latency stays the same, removes a quarter when the latency triples (TCP Vegas:
delay is the signal), halves it when a request has to be repeated, and tries to double it again from time to time.
Requests that are sent when they are due do not show the limit, and do not change it (RFC 7661).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

# an API server processes 49 requests of an administrator concurrently and queues the others (API Priority and Fairness:
# the share of global-default of its 600 by default); with fewer, etcd cannot batch its writes
_FIRST = 32
_MOST = 128
# an epoch, over which rate and latency are measured: answers for each concurrent request, and their minimum
_ANSWERS_EACH = 3
_LEAST_ANSWERS = 50
# the rate must grow by this factor at least; answers then take up to 1.9 times as long
_WORTH_DOUBLING = 1.05
# measurements before doubling ends, as other programs use the machine, too
_TRIES = 2
# latency, as a multiple of the latency at the end of doubling
_AS_SOON = 1.25
_TOO_LONG = 3.0
_EPOCHS_TO_TRY_AGAIN = 16


class Concurrency(Protocol):
    """The limit of concurrent requests."""

    @property
    def limit(self) -> int:
        """The present limit."""

    @property
    def most(self) -> int:
        """The largest possible limit."""

    def record(self, sent_s: float, answered_s: float, *, tries: int, late: bool) -> None:
        """Record the times of an answer, by any clock, and the number of attempts.

        Args:
            late: Whether the request was due before it could be sent.
        """


@dataclass(frozen=True, slots=True)
class FixedConcurrency:
    """A fixed limit."""

    limit: int

    @property
    def most(self) -> int:
        """The limit."""
        return self.limit

    def record(self, sent_s: float, answered_s: float, *, tries: int, late: bool) -> None:
        """Ignore the answer."""


@dataclass(slots=True)
class _Epoch:
    """Answers since the limit changed; *skipped* is the number of outstanding answers to earlier requests."""

    skipped: int
    began_s: float = 0.0
    ended_s: float = 0.0
    answers: int = 0
    waited_s: float = 0.0

    def add(self, sent_s: float, answered_s: float) -> None:
        if self.skipped:
            self.skipped -= 1
            self.began_s = answered_s
            return
        self.answers += 1
        self.waited_s += answered_s - sent_s
        self.ended_s = answered_s

    @property
    def rate(self) -> float:
        took_s = self.ended_s - self.began_s
        return self.answers / took_s if took_s > 0 else 0.0

    @property
    def latency_s(self) -> float:
        return self.waited_s / self.answers


class AdaptiveConcurrency:
    """As many requests as the API server accepts, from 1 to *most*."""

    def __init__(self, most: int = _MOST) -> None:
        self.most = most
        self.limit = min(_FIRST, most)
        self._epoch = _Epoch(skipped=self.limit)
        self._epochs = 0
        self._halved_s = -math.inf
        # the reference of doubling: the best rate, and its limit
        self._best: tuple[float, int] | None = None
        self._doubling = True
        self._tries = 0
        self._usual_s = math.inf

    def record(self, sent_s: float, answered_s: float, *, tries: int, late: bool) -> None:
        """Record an answer, and change the limit: at the end of an epoch, or immediately after a repeated request."""
        if tries > 1:
            # once for all concurrent requests
            if sent_s >= self._halved_s:
                self._halved_s = answered_s
                self._doubling = False
                self._begin(max(1, self.limit // 2))
        elif not late:
            self._begin(self.limit)
        else:
            self._epoch.add(sent_s, answered_s)
            if self._epoch.answers >= max(_ANSWERS_EACH * self.limit, _LEAST_ANSWERS):
                self._begin(self._doubled() if self._doubling else self._steadied())

    def _begin(self, limit: int) -> None:
        self._epoch = _Epoch(skipped=self.limit)
        self.limit = limit

    def _doubled(self) -> int:
        """Return twice the limit, or the previous one if the rate did not grow."""
        if self._best is None or self._epoch.rate >= _WORTH_DOUBLING * self._best[0]:
            self._best = (self._epoch.rate, self.limit)
            self._usual_s = self._epoch.latency_s
            self._doubling = self.limit < self.most
            self._tries = 0
            return min(2 * self.limit, self.most)
        self._tries += 1
        if self._tries < _TRIES:
            return self.limit
        self._doubling = False
        return self._best[1]

    def _steadied(self) -> int:
        """Return a slightly different limit, or twice the limit to try again."""
        latency_s = self._epoch.latency_s
        self._usual_s = min(self._usual_s, latency_s)
        self._epochs += 1
        if self._epochs % _EPOCHS_TO_TRY_AGAIN == 0 and self.limit < self.most:
            self._best = (self._epoch.rate, self.limit)
            self._doubling = True
            self._tries = 0
            return min(2 * self.limit, self.most)
        if latency_s > _TOO_LONG * self._usual_s:
            return max(min(_FIRST, self.limit), self.limit * 3 // 4)
        return min(self.limit + 1, self.most) if latency_s <= _AS_SOON * self._usual_s else self.limit


def concurrency_of(connections: int) -> Concurrency:
    """Return a fixed limit, or for 0 as many as the API server accepts."""
    return FixedConcurrency(connections) if connections else AdaptiveConcurrency()
