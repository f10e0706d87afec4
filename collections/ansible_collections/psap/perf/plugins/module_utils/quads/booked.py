"""The hosts that a booking requests, and those that it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Assignment, Row
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import Reservation


class Partial(Enum):
    """How a booking continues if hosts are refused."""

    SUBSTITUTE = "substitute"
    """Book substitutes, and keep the booking if it has enough hosts."""
    ACCEPT = "accept"
    """Keep the booking if it has enough hosts."""
    RELEASE = "release"
    """Release it unless it has all hosts."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Hosts to book: the first *count* of *hosts*; the others are substitutes.

    Args:
        at_least: A booking of fewer hosts is released.
        shortest: A shorter lease is released.
        longest: The lease that is requested from a server without self-scheduling.
    """

    hosts: tuple[str, ...]
    count: int
    at_least: int = 1
    partial: Partial = Partial.SUBSTITUTE
    shortest: timedelta = timedelta(hours=24)
    longest: timedelta = timedelta(hours=48)


@dataclass(frozen=True, slots=True)
class Booked:
    """A booking; *refused* has the server's reason by host, *changed* is false if all of it existed before."""

    assignment: Assignment
    rows: tuple[Row, ...]
    reservation: Reservation
    refused: Mapping[str, str]
    changed: bool


def refused_text(refused: Mapping[str, str]) -> Sequence[str]:
    """Return a sentence for each refused host."""
    return [f"{host} was refused: {reason}" for host, reason in sorted(refused.items())]


def summary(booked: Sequence[Booked], count: int) -> str:
    """Return one line: the hosts of each cloud and its reservation, and why there are fewer than *count*."""
    clouds = [f"{each.assignment.cloud}: {len(each.rows)} hosts {each.reservation}" for each in booked]
    found = sum(len(each.rows) for each in booked)
    refused = {name: reason for each in booked for name, reason in each.refused.items()}
    short = [f"{found} of {count} hosts booked", *refused_text(refused)] if found < count else []
    return "; ".join([*short, *clouds])
