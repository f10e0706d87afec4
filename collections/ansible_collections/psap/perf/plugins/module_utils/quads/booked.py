"""What hosts a booking is to have, and what it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Assignment, Row
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import Reservation


class Partial(Enum):
    """What becomes of a booking of which some hosts were refused."""

    SUBSTITUTE = "substitute"
    """Substitutes take their place, and what there is then stays if it is enough."""
    ACCEPT = "accept"
    """What there is stays if it is enough."""
    RELEASE = "release"
    """All or none."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Hosts to book: the first *count* of *hosts*, the others are substitutes.

    :param at_least: fewer are released again.
    :param shortest: a shorter lease is released again; *longest* is asked for where one can ask.
    """

    hosts: tuple[str, ...]
    count: int
    at_least: int = 1
    partial: Partial = Partial.SUBSTITUTE
    shortest: timedelta = timedelta(hours=24)
    longest: timedelta = timedelta(hours=48)


@dataclass(frozen=True, slots=True)
class Booked:
    """What was booked; *refused* hosts with the server's word, *changed* unless all of it was there before."""

    assignment: Assignment
    rows: tuple[Row, ...]
    reservation: Reservation
    refused: Mapping[str, str]
    changed: bool


def refused_text(refused: Mapping[str, str]) -> Sequence[str]:
    """A sentence for each host that was refused."""
    return [f"{host} was refused: {said}" for host, said in sorted(refused.items())]


def summary(booked: Sequence[Booked], count: int) -> str:
    """Return one line: the hosts of each cloud and its reservation, and why there are fewer than *count*."""
    clouds = [f"{each.assignment.cloud}: {len(each.rows)} hosts {each.reservation}" for each in booked]
    found = sum(len(each.rows) for each in booked)
    refused = {name: said for each in booked for name, said in each.refused.items()}
    short = [f"{found} of {count} hosts booked", *refused_text(refused)] if found < count else []
    return "; ".join([*short, *clouds])
