"""The QUADS server and the booking that a verb's arguments name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ansible.utils.display import Display
from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds, utc_text
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads, detect
from ansible_collections.psap.perf.plugins.module_utils.quads.connection import (
    Account,
    Connection,
    HttpTransport,
    RealTiming,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Assignment
from ansible_collections.psap.perf.plugins.module_utils.quads.record import RELEASED, Journal, Record, Records, tag
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import parts
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import Reservation
from ansible_collections.psap.perf.plugins.module_utils.quads.times import parse_offset
from ansible_collections.psap.perf.plugins.plugin_utils.ansible_private import show
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext
from ansible_collections.psap.perf.plugins.plugin_utils.waiting_file import shown_wait

_DISPLAY = Display()


@dataclass(frozen=True, slots=True)
class ServerArguments:
    """Arguments that name a QUADS server."""

    url: str
    authority: str
    patience: Seconds


@dataclass(frozen=True, slots=True)
class BookingArguments(ServerArguments):
    """Arguments that name a booking and the account that acts on it."""

    mark: str
    user: str
    password: str
    token: str
    admin: bool
    utc_offset: str


@dataclass(frozen=True, slots=True)
class Booking:
    """A server, and the record of this run's booking on it."""

    quads: Quads
    journal: Journal

    @property
    def record(self) -> Record:
        """Return the record."""
        return self.journal.record


def server(context: VerbContext) -> Quads:
    """Return the server that the arguments name, without a login."""
    args = context.arguments(ServerArguments)
    return _connect(context, Account(args.url), args.authority, writes=False)


def recorded(context: VerbContext, mark: str) -> Record | None:
    """Return what this run has recorded about the booking of *mark*."""
    return Records(context.run_directory).read(full_mark(context, mark))


def full_mark(context: VerbContext, mark: str) -> str:
    """Return *mark* with the ID of the run, unless it names another run."""
    return mark if "/" in mark else f"{context.run}/{mark}"


def booking(context: VerbContext, writes: bool = True, mark: str = "") -> Booking:
    """Return the booking that the arguments name; empty arguments are as this run has recorded them.

    Args:
        mark: The mark of a part, in place of the argument's.

    Raises:
        UsageError: If neither the arguments nor a record name the server or the account.
    """
    args, records = context.arguments(BookingArguments), Records(context.run_directory)
    mark = mark or full_mark(context, args.mark)
    former = records.read(mark)
    known = former or Record(mark, "", "")
    elsewhere = None if former else records.former(mark)
    tag(known.mark)
    named = {
        "password": args.password or known.secrets.get("password", ""),
        "token": args.token or known.secrets.get("token", ""),
    }
    offset = parse_offset(args.utc_offset).offset
    record = replace(
        known,
        url=args.url or known.url,
        user=args.user or known.user,
        authority=args.authority or known.authority,
        admin=args.admin or known.admin,
        secrets={kind: reference for kind, reference in named.items() if reference},
        offset_s=known.offset_s if offset is None else offset.total_seconds(),
    )
    if record.offset_s is None and elsewhere and elsewhere.url == record.url:
        # the run that booked the hosts has recorded it
        record = replace(record, offset_s=elsewhere.offset_s)
    if former and former.url != record.url and former.phase != RELEASED:
        raise UsageError(f"the booking {record.mark} is at {former.url}, not at {record.url}")
    values = {kind: context.secret(reference) for kind, reference in record.secrets.items() if writes}
    account = Account(record.url, record.user, values.get("password"), values.get("token"), record.admin)
    return Booking(_connect(context, account, record.authority, writes), Journal(records, record))


def bookings(context: VerbContext, writes: bool = True, owner: str = "") -> list[Booking]:
    """Return the booking, and its other parts if it is split over clouds.

    Args:
        context: The verb.
        writes: Whether the verb writes, which needs the account's secrets.
        owner: The owner of the booking; empty for the account's own.
    """
    first, mark = booking(context, writes), full_mark(context, context.arguments(BookingArguments).mark)
    found = [each.mark for each in Records(context.run_directory).parts(mark)] or parts(first.quads, mark, owner)
    return [first, *(booking(context, writes, each) for each in found if each != mark)]


@contextmanager
def show_progress(context: VerbContext, what: str, timeout_s: float) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows progress in Ansible's output and in ``waiting.json``, for the driver's live view."""
    with shown_wait(context.command_directory(), what, timeout_s) as show_in_file:
        last = ""

        def report(text: str) -> None:
            nonlocal last
            if text != last:
                last = text
                show(f"quads: {text}")
                show_in_file(text)

        yield report


def show_summary(context: VerbContext, text: str, lines: Sequence[str] = ()) -> None:
    """Write *text* as the result of the command, which the driver prints, also in check mode.

    Args:
        context: The verb.
        text: One line.
        lines: A table, which the driver prints if the command runs alone.
    """
    directory = context.command_directory()
    if directory is None:
        return
    (directory / "artifacts").mkdir(exist_ok=True)
    done = {"phase": "done", "numbers": {}, "updated_s": time.time(), "summary": text, "lines": list(lines)}
    write_json(directory / "artifacts" / "progress.json", {"schema": "psap.perf/progress/1", **done})


def described(assignment: Assignment, reservation: Reservation | None) -> dict[str, Any]:
    """Return *assignment* as verbs return it."""
    return {
        "assignment": assignment.id,
        "cloud": assignment.cloud,
        "owner": assignment.owner,
        "description": assignment.description,
        "ticket": assignment.ticket,
        "vlan": assignment.vlan,
        "provisioned": assignment.provisioned,
        "validated": assignment.validated,
        "lease_end": utc_text(reservation.end) if reservation else None,
        "lease_left_s": round(reservation.left.total_seconds()) if reservation else None,
        "lease_exact": reservation.exact if reservation else None,
    }


def _connect(context: VerbContext, account: Account, authority: str, writes: bool) -> Quads:
    account.check(writes)
    if writes and account.url.startswith("http://") and not account.url.startswith("http://127.0.0.1"):
        _DISPLAY.warning(f"{account.url} is not encrypted: others on the network can read the login")
    timing = RealTiming(context.check_interrupted)
    patience = context.arguments(ServerArguments).patience
    connection = Connection(account, HttpTransport(authority), timing, patience, context.redactor.add)
    return Quads(connection, detect(connection))
