"""Whether an assignment is delivered: four conditions, none of which alone says so, and who lags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Assignment, Host, Row
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import Reservation


@dataclass(frozen=True, slots=True)
class Delivery:
    """How far it is.

    :param lacking: the conditions that do not hold, each a sentence's end.
    :param laggards: a host → what it still lacks.
    :param hints: what may be wrong, and may pass.
    """

    assignment: Assignment
    hosts: tuple[Host, ...]
    reservation: Reservation | None
    lacking: tuple[str, ...] = ()
    laggards: Mapping[str, str] = field(default_factory=dict)
    hints: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:
        """Whether the cloud can be used."""
        return not self.lacking and not self.laggards

    @property
    def ended(self) -> bool:
        """Whether it can become ready no more."""
        return not self.assignment.active

    def __str__(self) -> str:
        """One line for people."""
        total = len({*(host.name for host in self.hosts), *self.laggards})
        done = total - len(self.laggards)
        lags = ", ".join(f"{name} {lack}" for name, lack in list(self.laggards.items())[:4])
        more = f" and {len(self.laggards) - 4} more" if len(self.laggards) > 4 else ""
        return "; ".join(filter(None, (f"{done} of {total} hosts there", *self.lacking, lags + more, *self.hints)))


def delivery_of(
    assignment: Assignment,
    running: Sequence[Row],
    wanted: Iterable[str],
    reservation: Reservation | None,
    moves: Iterable[Mapping[str, Any]] = (),
    progress: Iterable[Mapping[str, Any]] = (),
) -> Delivery:
    """The state of *assignment* with its *running* rows; *wanted* hosts must all be among them."""
    rows = {row.host.name: row for row in running}
    lacking = [
        text
        for holds, text in (
            (assignment.active, "the assignment is not active any more"),
            (assignment.provisioned, "it is not provisioned"),
            (assignment.validated, "it is not validated"),
            (bool(rows), "it has no hosts"),
        )
        if not holds
    ]
    moving = {str(each.get("host")): each for each in moves}
    stages = {str(each.get("host") or each.get("hostname")): each for each in progress}
    laggards = {}
    for name in sorted({*wanted, *rows}):
        lack = _lack(assignment, rows.get(name))
        if lack:
            laggards[name] = f"{lack}{_stage(rows.get(name), stages.get(name), moving.get(name))}"
    hint = "the server reports that a validation failed, which may have been mended since"
    hints = (hint,) if assignment.failed and not assignment.validated else ()
    hosts = tuple(row.host for _name, row in sorted(rows.items()))
    return Delivery(assignment, hosts, reservation, tuple(lacking), laggards, hints)


def _lack(assignment: Assignment, row: Row | None) -> str:
    if row is None:
        return "has no row in the schedule that runs"
    if row.host.cloud != assignment.cloud:
        return f"is in {row.host.cloud or 'no cloud'} still"
    if assignment.wipe and not row.host.validated:
        return "is not validated"
    return ""


def _stage(row: Row | None, progress: Mapping[str, Any] | None, move: Mapping[str, Any] | None) -> str:
    told = progress or {}
    stage = told.get("status") or (row.stage if row else "")
    error = told.get("error_message") or (row.error if row else "")
    words = [str(stage)] if stage else ["to be moved"] if move else []
    return f" ({': '.join([*words, *([str(error)] if error else [])])})" if words or error else ""
