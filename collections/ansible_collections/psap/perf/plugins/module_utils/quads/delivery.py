"""The state of an assignment's delivery: four conditions, which must all hold, and the hosts that are missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Assignment, Host, Row
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import Reservation


@dataclass(frozen=True, slots=True)
class Delivery:
    """The state of a delivery.

    Args:
        unmet: Texts of the conditions that do not hold.
        laggards: The missing hosts, each with the reason.
        hints: Possible causes.
    """

    assignment: Assignment
    hosts: tuple[Host, ...]
    reservation: Reservation | None
    unmet: tuple[str, ...] = ()
    laggards: Mapping[str, str] = field(default_factory=dict)
    hints: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:
        """Return whether the cloud can be used."""
        return not self.unmet and not self.laggards

    @property
    def ended(self) -> bool:
        """Return whether the assignment has ended, so that it never gets ready."""
        return not self.assignment.active

    def __str__(self) -> str:
        """Return one line of text."""
        total = len({*(host.name for host in self.hosts), *self.laggards})
        done = total - len(self.laggards)
        late = ", ".join(f"{name} {why}" for name, why in list(self.laggards.items())[:4])
        more = f" and {len(self.laggards) - 4} more" if len(self.laggards) > 4 else ""
        return "; ".join(filter(None, (f"{done} of {total} hosts there", *self.unmet, late + more, *self.hints)))


def delivery_of(
    assignment: Assignment,
    running: Sequence[Row],
    wanted: Iterable[str],
    reservation: Reservation | None,
    moves: Iterable[Mapping[str, Any]] = (),
    progress: Iterable[Mapping[str, Any]] = (),
) -> Delivery:
    """Return the state of *assignment* with its *running* rows, which must include all *wanted* hosts."""
    rows = {row.host.name: row for row in running}
    unmet = [
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
        why = _why_missing(assignment, rows.get(name))
        if why:
            laggards[name] = f"{why}{_stage(rows.get(name), stages.get(name), moving.get(name))}"
    hint = "the server reports a failed validation, which may be fixed already"
    hints = (hint,) if assignment.failed and not assignment.validated else ()
    hosts = tuple(row.host for _name, row in sorted(rows.items()))
    return Delivery(assignment, hosts, reservation, tuple(unmet), laggards, hints)


def _why_missing(assignment: Assignment, row: Row | None) -> str:
    if row is None:
        return "has no current row in the schedule"
    if row.host.cloud != assignment.cloud:
        return f"is still in {row.host.cloud or 'no cloud'}"
    if assignment.wipe and not row.host.validated:
        return "is not validated"
    return ""


def _stage(row: Row | None, progress: Mapping[str, Any] | None, move: Mapping[str, Any] | None) -> str:
    progress = progress or {}
    stage = progress.get("status") or (row.stage if row else "")
    error = progress.get("error_message") or (row.error if row else "")
    words = [str(stage)] if stage else ["to be moved"] if move else []
    return f" ({': '.join([*words, *([str(error)] if error else [])])})" if words or error else ""
