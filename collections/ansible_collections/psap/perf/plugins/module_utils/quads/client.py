"""The routes of QUADS that a client of self-scheduling uses, typed; each call is one request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias
from urllib.parse import quote

from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError
from ansible_collections.psap.perf.plugins.module_utils.quads.connection import Connection
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import (
    LostAnswerError,
    Refusal,
    RefusedError,
    UnfitServerError,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import (
    Assignment,
    Host,
    Row,
    assignment_of,
    host_of,
    identity,
    row_of,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.times import (
    ServerClock,
    body_time,
    learned,
    query_time,
    server_time,
)

Version: TypeAlias = tuple[int, ...]

# until this version, ``terminate`` compares the owner with a part of the header that no owner equals
_RELEASES_NOTHING: Version = (2, 1, 5)
# these answer 500 to every request for an assignment, unless they open the ticket themselves
_OPEN_TICKETS: tuple[Version, Version] = ((2, 2, 0), (2, 2, 6))


@dataclass(frozen=True, slots=True)
class Server:
    """What answers: *self_service* if it has self-scheduling; *version* is the text of the server."""

    version: str
    self_service: bool

    @property
    def number(self) -> Version:
        """The number in the version; empty if it has none."""
        found = re.search(r"(\d+)\.(\d+)\.(\d+)", self.version)
        return tuple(map(int, found.groups())) if found else ()

    @property
    def releases(self) -> bool:
        """Whether a user can end an assignment of self-scheduling."""
        return not self.number or self.number > _RELEASES_NOTHING

    @property
    def must_open_tickets(self) -> bool:
        """Whether self-scheduling works only where the server opens the ticket itself."""
        first, last = _OPEN_TICKETS
        return first <= self.number <= last

    @property
    def kind(self) -> str:
        """``OLD``, ``SSM-early`` or ``SSM``."""
        if not self.self_service:
            return "OLD"
        return "SSM-early" if self.number and self.number <= _OPEN_TICKETS[1] else "SSM"


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for: *description* ends with the mark.

    :param cloud: one of the server's, or nothing for any.
    :param vlan: the number of a public VLAN, or nothing.
    """

    description: str
    ticket: str = ""
    wipe: bool = True
    qinq: int = 0
    cc_users: tuple[str, ...] = ()
    vlan: int | None = None
    cloud: str = ""
    ostype: str = ""
    boot_order: str = ""


def detect(connection: Connection) -> Server:
    """What kind of server it is, by what it answers rather than by its version.

    :raises UnfitServerError: when it is no QUADS.
    """
    told = connection.read("/version/")
    if not isinstance(told, str):
        raise UnfitServerError(f"the server at {connection.account.url} is not QUADS: it returned no version")
    try:
        connection.read("/available", {"can_self_schedule": "true"})
    except RefusedError as error:
        if "can_self_schedule" not in error.said:
            raise
        return Server(told, self_service=False)
    return Server(told, self_service=True)


class Quads:
    """A server with an account.

    :raises RefusedError: from every call, when the server refuses.
    :raises LostAnswerError: from every call; of a write nobody knows then whether it was done.
    """

    def __init__(self, connection: Connection, server: Server) -> None:
        self.connection = connection
        self.server = server
        self.account = connection.account

    # hosts

    def available(self, start: datetime | None, end: datetime | None) -> list[str]:
        """Names of hosts that are free from *start*, the server's now if not given, to *end*, its wall clock.

        Equality only, and the truth as ``true``: an operator would hold for what follows it, and ``1`` means false.
        """
        query = {"can_self_schedule": "true"} if self.server.self_service else {}
        query |= {name: query_time(each) for name, each in (("start", start), ("end", end)) if each is not None}
        return [str(name) for name in self._list("/available", query)]

    def is_available(self, host: str, start: datetime, end: datetime) -> bool:
        """Whether a host is free; the server answers with a text."""
        query = {"start": query_time(start), "end": query_time(end)}
        told = self.connection.read(f"/available/{quote(host)}", query)
        return isinstance(told, Mapping) and str(told.get(host)) == "True"

    def hosts(self) -> list[Host]:
        """All hosts."""
        return [host_of(each) for each in self._list("/hosts")]

    def host(self, name: str) -> Host:
        """One host."""
        return host_of(self.connection.read(f"/hosts/{quote(name)}"))

    # clouds and assignments

    def free_clouds(self) -> list[str]:
        """Clouds without an assignment, by name."""
        return sorted(str(each["name"]) for each in self._list("/clouds/free/"))

    def assignment(self, number: int) -> Assignment:
        """One assignment."""
        return assignment_of(self.connection.read(f"/assignments/{number}/"))

    def assignments(self, owner: str = "") -> list[Assignment]:
        """Active ones, of *owner* if given; an owner's are asked for among the self-scheduled, where there are such."""
        query = {"active": "true"}
        if owner:
            query |= {"is_self_schedule": "true"} if self.server.self_service and not self.account.admin else {}
            query |= {"owner": owner}
        # a filter that a server does not know is dropped by some
        found = [assignment_of(each) for each in self._list("/assignments", query)]
        return [each for each in found if each.active and owner in ("", each.owner)]

    def active_on(self, cloud: str) -> Assignment | None:
        """The active assignment of a cloud; an idle one answers with an empty object."""
        told = self.connection.read(f"/assignments/active/{quote(cloud)}/")
        return assignment_of(told) if told else None

    def rows(self, assignment: int) -> list[Row]:
        """All rows of an assignment, past ones too."""
        return [row_of(each) for each in self._list("/schedules", {"assignment_id": str(assignment)})]

    def rows_of_host(self, host: str) -> list[Row]:
        """All rows of a host."""
        return [row_of(each) for each in self._list("/schedules", {"host": host})]

    def moves(self) -> list[Mapping[str, Any]]:
        """Hosts that are not where they should be."""
        return [each for each in self._list("/moves/") if isinstance(each, Mapping)]

    def progress(self, cloud: str) -> list[Mapping[str, Any]]:
        """The stage of each move, where the server tells it."""
        try:
            told = self.connection.read("/moves/progress/", {"cloud": cloud})
        except RefusedError:
            return []
        return [each for each in told if isinstance(each, Mapping)] if isinstance(told, list) else []

    # writes

    def request(self, order: Order) -> int:
        """Ask for an assignment by self-scheduling; its id.

        :raises DataQualityError: when the server's database refused it.
        """
        wanted = {
            "description": order.description,
            # servers to 2.2.6 require and believe it; later ones take it from the login
            "owner": self.account.owner,
            "ticket": order.ticket,
            "wipe": order.wipe,
            "qinq": order.qinq,
            "cc_user": " ".join(order.cc_users),
            "vlan": order.vlan,
            "cloud": order.cloud,
            "ostype": order.ostype,
            "boot_order": order.boot_order,
        }
        body = {name: value for name, value in wanted.items() if value not in ("", None)}
        try:
            told, _reply = self.connection.write("POST", "/assignments/self/", "make an assignment", body)
        except LostAnswerError as error:
            if self.server.must_open_tickets and not error.may_act:
                raise LostAnswerError(
                    f"{error}; QUADS 2.2.0 to 2.2.6 fails at every request for self-scheduling unless it opens tickets "
                    "itself: ask the lab for ssm_jira_create_ticket or a newer QUADS",
                    may_act=False,
                ) from error
            raise
        return identity(_object(told), "assignment")

    def request_as_admin(self, order: Order, cloud: str) -> int:
        """The same on a server without self-scheduling; its id."""
        wanted = {
            "description": order.description,
            "owner": self.account.owner,
            "ticket": order.ticket,
            "cloud": cloud,
            # this server hands it to its database as it is
            "wipe": bool(order.wipe),
            "qinq": order.qinq,
            "ccuser": " ".join(order.cc_users),
            "vlan": order.vlan,
        }
        body = {name: value for name, value in wanted.items() if value not in ("", None)}
        told, _reply = self.connection.write("POST", "/assignments/", f"make an assignment in {cloud}", body)
        return identity(_object(told), "assignment")

    def add_host(self, cloud: str, host: str, start: datetime | None, end: datetime | None) -> tuple[Row, ServerClock]:
        """Add a host to a cloud; its row, and what that tells of the server's clock.

        Both times are for a server without self-scheduling; others decide themselves.
        """
        body: dict[str, Any] = {"cloud": cloud, "hostname": host}
        if start is not None and end is not None:
            body |= {"start": body_time(start), "end": body_time(end)}
        told, reply = self.connection.write("POST", "/schedules/", f"add {host} to {cloud}", body)
        row = row_of(_object(told))
        own_start = start is None and reply.date is not None
        return row, learned(server_time(told["start"]), reply.date) if own_start and reply.date else ServerClock()

    def terminate(self, number: int) -> None:
        """End an assignment, whose mark the caller has compared."""
        self.connection.write("POST", f"/assignments/terminate/{number}/", f"end assignment {number}")

    def end_row(self, row: int, end: datetime) -> None:
        """Set the end of a row, as an administrator."""
        self.connection.write("PATCH", f"/schedules/{row}", f"set the end of row {row}", {"end": query_time(end)})

    def deactivate(self, number: int) -> None:
        """Make an assignment inactive that has no hosts, as an administrator."""
        self.connection.write("PATCH", f"/assignments/{number}/", f"end assignment {number}", {"active": False})

    def _list(self, path: str, query: Mapping[str, str] | None = None) -> list[Any]:
        told = self.connection.read(path, query)
        if not isinstance(told, list):
            raise UnfitServerError(f"QUADS returned no list at {path}")
        return told


def not_found(error: RefusedError) -> bool:
    """Whether the server says that there is no such thing, which it does with a 400."""
    return error.refusal is Refusal.NOT_FOUND


def _object(told: Any) -> Mapping[str, Any]:
    if not isinstance(told, Mapping):
        raise DataQualityError("QUADS answered a write with no object")
    return told
