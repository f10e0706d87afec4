"""How many requests of a submission are under way at once: a fixed number, or as many as the API server takes.

The second works as TCP's congestion control does. It begins with what any API server takes, and doubles as long as that
carries more (slow start, RFC 5681, but it ends where the rate grows no more, since an API server queues long before it
refuses). From there it adds one at a time while answers come as soon as they did, takes a quarter away when they take
three times as long (TCP Vegas: delay is the signal), takes half of it away when a request has to be repeated, and
tries from time to time whether doubling carries more by now. What is sent when it is due says nothing of the limit, and
changes nothing (RFC 7661).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

# an API server works on 49 requests of an administrator at once and queues the others (API Priority and Fairness: the
# share of global-default of the 600 that it takes by default); with fewer, etcd has little to write together
_FIRST = 32
_MOST = 128
# an epoch, over which rate and latency are measured: answers for each request under way, and the least of them
_ANSWERS_EACH = 3
_LEAST_ANSWERS = 50
# the least that doubling must carry more; answers then take up to 1.9 times as long
_WORTH_DOUBLING = 1.05
# a rate that does not show it is measured again: others use the machine, too
_TRIES = 2
# latency, as a multiple of that where doubling ended
_AS_SOON = 1.25
_TOO_LONG = 3.0
_EPOCHS_TO_TRY_AGAIN = 16


class Concurrency(Protocol):
    """How many requests may be under way."""

    @property
    def limit(self) -> int:
        """How many now."""

    @property
    def most(self) -> int:
        """How many there will be at most."""

    def record(self, sent_s: float, answered_s: float, *, tries: int, late: bool) -> None:
        """Take notice of an answer: its times by any clock, and how often it was asked for.

        *late*: it had been due before a request could be sent.
        """


@dataclass(frozen=True, slots=True)
class FixedConcurrency:
    """Always the same."""

    limit: int

    @property
    def most(self) -> int:
        """The same."""
        return self.limit

    def record(self, sent_s: float, answered_s: float, *, tries: int, late: bool) -> None:
        """Nothing changes."""


@dataclass(slots=True)
class _Epoch:
    """Answers since the limit changed; *skipped* are those still to come of what was sent before."""

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
    """As many as the API server takes, from 1 to *most*."""

    def __init__(self, most: int = _MOST) -> None:
        self.most = most
        self.limit = min(_FIRST, most)
        self._epoch = _Epoch(skipped=self.limit)
        self._epochs = 0
        self._halved_s = -math.inf
        # what doubling is measured by: the best rate, and its limit
        self._best: tuple[float, int] | None = None
        self._doubling = True
        self._tries = 0
        self._usual_s = math.inf

    def record(self, sent_s: float, answered_s: float, *, tries: int, late: bool) -> None:
        """Take notice, and change the limit: at the end of an epoch, or at once for a request that was repeated."""
        if tries > 1:
            # once for all that were under way together
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
        """Twice as many, or those before when doubling did not carry more."""
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
        """A few more or fewer, or a try at twice as many."""
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
    """So many; 0 is as many as the API server takes."""
    return FixedConcurrency(connections) if connections else AdaptiveConcurrency()
