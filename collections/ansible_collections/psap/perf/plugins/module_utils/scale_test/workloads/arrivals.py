"""Shapes of arrival: when each workload is due, in seconds after the beginning of the submission.

The load is open: what is due is due, however long the API server took over what was due before. A workload for which no
connection is free goes as soon as one is, and who falls behind catches up. Every shape is a pure function of its
settings; the random one of its seed, too.
"""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import Trace

EVEN = "even"
POISSON = "poisson"


class Arrivals(Protocol):
    """A shape of arrival."""

    def due_s(self, index: int) -> float:
        """When the workload with this index (from 0) is due; never less than the one before, ``inf`` for never."""


class RateProfile(Protocol):
    """How many workloads are expected by when."""

    def when_s(self, amount: float) -> float:
        """The moment, in seconds, by which *amount* workloads are expected; ``inf`` when that never comes."""


@dataclass(frozen=True, slots=True)
class AtOnce:
    """As fast as the connections carry them."""

    def due_s(self, index: int) -> float:  # noqa: ARG002 - every workload is due at once
        """Always 0."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Batches:
    """*size* workloads together, and the next ones *delay_s* seconds later."""

    size: int
    delay_s: float

    def due_s(self, index: int) -> float:
        """The number of the batch times the delay."""
        return (index // self.size) * self.delay_s


@dataclass(frozen=True, slots=True)
class Steady:
    """One rate throughout; *per_second* is above 0."""

    per_second: float

    def when_s(self, amount: float) -> float:
        """Amount divided by rate."""
        return amount / self.per_second


@dataclass(frozen=True, slots=True)
class Phase:
    """*duration_s* seconds in which the rate goes in a straight line from one value to another, both a second."""

    duration_s: float
    first_rate: float
    last_rate: float

    @property
    def amount(self) -> float:
        """How many workloads are expected in it: the area below the line."""
        return self.duration_s * (self.first_rate + self.last_rate) / 2

    def when_s(self, amount: float) -> float:
        """Seconds into the phase by which *amount* workloads (above 0, at most all of its own) are expected."""
        slope = (self.last_rate - self.first_rate) / self.duration_s
        # the smaller root of slope/2 t² + first t = amount, in the form that a slope of 0 does not break
        under_root = max(0.0, self.first_rate**2 + 2 * slope * amount)
        return 2 * amount / (self.first_rate + math.sqrt(under_root))


@dataclass(frozen=True, slots=True)
class Phased:
    """Phases one after the other (ramp, steady, drain); the last one's last rate lasts on."""

    phases: tuple[Phase, ...]

    def when_s(self, amount: float) -> float:
        """The moment by which the area below all the lines reaches *amount*."""
        began = 0.0
        for phase in self.phases:
            if 0 < phase.amount >= amount:
                return began + (phase.when_s(amount) if amount > 0 else 0.0)
            amount -= phase.amount
            began += phase.duration_s
        rate = self.phases[-1].last_rate
        return began + amount / rate if rate > 0 else math.inf


@dataclass(frozen=True, slots=True)
class Paced:
    """As a bucket of *burst* tokens lets them through, full at first and filled at the profile's rate."""

    profile: RateProfile
    burst: int = 1

    def due_s(self, index: int) -> float:
        """The first *burst* are due at once; each later one when its token is there."""
        return self.profile.when_s(max(0, index - self.burst + 1))


@dataclass(frozen=True, slots=True)
class Poisson:
    """Independent users: gaps drawn from the exponential distribution, around the profile's rate."""

    profile: RateProfile
    seed: int
    _expected: array[float] = field(default_factory=lambda: array("d"), init=False, compare=False, repr=False)
    _gaps: Iterator[float] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_gaps", _exponential_gaps(self.seed))

    def due_s(self, index: int) -> float:
        """The moment at which a process of one arrival a second, stretched to the profile, has this arrival."""
        while len(self._expected) <= index:
            before = self._expected[-1] if self._expected else 0.0
            self._expected.append(before + next(self._gaps))
        return self.profile.when_s(self._expected[index])


def _exponential_gaps(seed: int) -> Iterator[float]:
    generator = random.Random(seed)  # noqa: S311 - arrivals, not secrets
    while True:
        yield generator.expovariate(1.0)


@dataclass(frozen=True, slots=True)
class ArrivalSettings:
    """What a user asks for. At most one of *rate*, *batch_delay_s*, *phases* and *trace* is given.

    *rate* is in workloads a second (0: as fast as possible), *spacing* ``even`` or ``poisson``, *burst* a number of
    workloads, *batch_delay_s* in seconds.
    """

    rate: float = 0.0
    burst: int = 1
    spacing: str = EVEN
    seed: int = 0
    batch_delay_s: float = 0.0
    phases: tuple[Phase, ...] = ()
    trace: Trace | None = None

    def __post_init__(self) -> None:
        """:raises UsageError: when they contradict each other, or one is out of its range."""
        for name, least in (("rate", 0), ("burst", 1), ("batch_delay_s", 0)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        given = [name for name in ("rate", "batch_delay_s", "phases", "trace") if getattr(self, name)]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)} are both given; each is a shape of arrival of its own")
        paced = bool(self.rate or self.phases)
        if self.spacing == POISSON and not paced:
            raise UsageError("spacing poisson needs a rate or phases: around which rate are arrivals drawn?")
        if self.burst > 1 and (not paced or self.spacing == POISSON):
            raise UsageError(f"burst is {self.burst}; it needs a rate or phases, and even spacing")

    def document(self) -> dict[str, Any]:
        """What is kept of them beside the recording."""
        return {
            "rate": self.rate,
            "burst": self.burst,
            "spacing": self.spacing,
            "seed": self.seed,
            "batch_delay_s": self.batch_delay_s,
            "phases": [[phase.duration_s, phase.first_rate, phase.last_rate] for phase in self.phases],
            "trace": self.trace.origin if self.trace else None,
        }

    def arrivals(self, count: int, batch: int) -> Arrivals:
        """When each of *count* workloads is due, where *batch* of them are sent in parallel.

        :raises UsageError: when not all of them come to be due.
        """
        if self.trace is not None:
            self.trace.check(count)
        arrivals = self._shape(batch)
        if math.isinf(arrivals.due_s(count - 1)):
            expected = sum(phase.amount for phase in self.phases)
            raise UsageError(
                f"the phases end at a rate of 0 after about {expected:g} workloads, before all {count} are due: "
                "make them longer, or let the last one end at a rate above 0"
            )
        return arrivals

    def _shape(self, batch: int) -> Arrivals:
        if self.trace is not None:
            return self.trace
        if self.batch_delay_s > 0:
            return Batches(batch, self.batch_delay_s)
        if not self.rate and not self.phases:
            return AtOnce()
        profile: RateProfile = Phased(self.phases) if self.phases else Steady(self.rate)
        return Poisson(profile, self.seed) if self.spacing == POISSON else Paced(profile, self.burst)


def phases_of(given: Sequence[Mapping[str, Any]]) -> tuple[Phase, ...]:
    """Phases as they are spelled: ``duration``, the rate ``to`` which it goes, and ``from`` which (default: the last).

    :raises UsageError: when one cannot be used.
    """
    phases: list[Phase] = []
    for number, one in enumerate(given, start=1):
        before = phases[-1].last_rate if phases else 0.0
        first = one.get("from")
        phase = Phase(seconds(one["duration"]), before if first is None else float(first), float(one["to"]))
        if phase.duration_s <= 0 or min(phase.first_rate, phase.last_rate) < 0:
            raise UsageError(f"phase {number} needs a duration above 0 and rates of at least 0: {dict(one)}")
        phases.append(phase)
    return tuple(phases)


def arrivals_at(rate: float) -> Arrivals:
    """Workloads at *rate* a second; 0 is as fast as possible."""
    return ArrivalSettings(rate=rate).arrivals(1, 1)
