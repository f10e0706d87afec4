"""Shapes of arrival: when each workload is due, in seconds after the start of the submission.

The load is open: due times do not depend on the duration of earlier requests. A workload without a free connection is
sent as soon as one is free, so that a delayed submission catches up. Every shape is a pure function of its settings,
including the seed of a random one.
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
        """Return when the workload with this index (from 0) is due; not before the previous one, ``inf`` for never."""


class RateProfile(Protocol):
    """The expected number of workloads over time."""

    def when_s(self, amount: float) -> float:
        """Return the seconds after which *amount* workloads are expected; ``inf`` for never."""


@dataclass(frozen=True, slots=True)
class Immediate:
    """As fast as the connections allow."""

    def due_s(self, index: int) -> float:  # noqa: ARG002 - every workload is due immediately
        """Return 0."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Batches:
    """*size* workloads together, and the next ones *delay_s* seconds later."""

    size: int
    delay_s: float

    def due_s(self, index: int) -> float:
        """Return the number of the batch times the delay."""
        return (index // self.size) * self.delay_s


@dataclass(frozen=True, slots=True)
class Steady:
    """A constant rate; *per_second* is above 0."""

    per_second: float

    def when_s(self, amount: float) -> float:
        """Return the amount divided by the rate."""
        return amount / self.per_second


@dataclass(frozen=True, slots=True)
class Phase:
    """*duration_s* seconds in which the rate changes linearly between two values, in workloads a second."""

    duration_s: float
    first_rate: float
    last_rate: float

    @property
    def amount(self) -> float:
        """The expected number of workloads: the area below the line."""
        return self.duration_s * (self.first_rate + self.last_rate) / 2

    def when_s(self, amount: float) -> float:
        """Return the seconds into the phase until *amount* workloads (above 0, at most all) are expected."""
        slope = (self.last_rate - self.first_rate) / self.duration_s
        # the smaller root of slope/2 t² + first t = amount, in the form that a slope of 0 does not break
        under_root = max(0.0, self.first_rate**2 + 2 * slope * amount)
        return 2 * amount / (self.first_rate + math.sqrt(under_root))


@dataclass(frozen=True, slots=True)
class Phased:
    """Phases one after the other (ramp, steady, drain); the last rate continues after the last phase."""

    phases: tuple[Phase, ...]

    def when_s(self, amount: float) -> float:
        """Return when the area below all lines reaches *amount*."""
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
    """A token bucket of *burst* tokens, full at the start and filled at the profile's rate."""

    profile: RateProfile
    burst: int = 1

    def due_s(self, index: int) -> float:
        """Return 0 for the first *burst*, then the time of the token."""
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
        """Return the time of this arrival of a process of one arrival a second, scaled to the profile."""
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
    """The user's settings. At most one of *rate*, *batch_delay_s*, *phases* and *trace* is set.

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
        """Raise UsageError if they contradict each other, or one is out of its range."""
        for name, least in (("rate", 0), ("burst", 1), ("batch_delay_s", 0)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        given = [name for name in ("rate", "batch_delay_s", "phases", "trace") if getattr(self, name)]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)} are both set; set one of them, as each is a shape of arrival")
        paced = bool(self.rate or self.phases)
        if self.spacing == POISSON and not paced:
            raise UsageError("spacing poisson needs a rate or phases, around which arrivals are drawn")
        if self.burst > 1 and (not paced or self.spacing == POISSON):
            raise UsageError(f"burst is {self.burst}; it needs a rate or phases, and even spacing")

    def document(self) -> dict[str, Any]:
        """Return their values in ``recording.json``."""
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
        """Return when each of *count* workloads is due, with *batch* of them sent in parallel.

        Raises:
            UsageError: If some of them are never due.
        """
        if self.trace is not None:
            self.trace.check(count)
        arrivals = self._shape(batch)
        if math.isinf(arrivals.due_s(count - 1)):
            expected = sum(phase.amount for phase in self.phases)
            raise UsageError(
                f"the phases end at a rate of 0 after about {expected:g} workloads, before all {count} are due: "
                "extend them, or end the last one at a rate above 0"
            )
        return arrivals

    def _shape(self, batch: int) -> Arrivals:
        if self.trace is not None:
            return self.trace
        if self.batch_delay_s > 0:
            return Batches(batch, self.batch_delay_s)
        if not self.rate and not self.phases:
            return Immediate()
        profile: RateProfile = Phased(self.phases) if self.phases else Steady(self.rate)
        return Poisson(profile, self.seed) if self.spacing == POISSON else Paced(profile, self.burst)


def phases_of(given: Sequence[Mapping[str, Any]]) -> tuple[Phase, ...]:
    """Return phases from entries of ``duration``, the rate ``to``, and the rate ``from`` (by default the last rate).

    Raises:
        UsageError: If one is invalid.
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
    """Return arrivals at *rate* a second; 0 is as fast as possible."""
    return ArrivalSettings(rate=rate).arrivals(1, 1)
