"""Shapes of arrival: when each workload is due, in seconds after the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Arrivals(Protocol):
    """A shape of arrival."""

    def due_s(self, position: int) -> float:
        """When the workload at this position (from 0) is due; never less than the one before."""


@dataclass(frozen=True, slots=True)
class AtOnce:
    """As fast as the connections carry them."""

    def due_s(self, position: int) -> float:  # noqa: ARG002 - every position is due at once
        """Always 0."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Evenly:
    """At a fixed rate; *per_second* is above 0."""

    per_second: float

    def due_s(self, position: int) -> float:
        """Position divided by rate."""
        return position / self.per_second


def arrivals_at(rate: float) -> Arrivals:
    """Workloads at *rate* a second; 0 is as fast as possible."""
    return Evenly(rate) if rate > 0 else AtOnce()
