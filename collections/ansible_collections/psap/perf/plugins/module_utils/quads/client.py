"""Routes of QUADS for self-scheduling, with types; each call is one request."""

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
    infer_clock,
    query_time,
    server_time,
)

Version: TypeAlias = tuple[int, ...]

# up to this version, ``terminate`` refuses every owner: it compares the owner with a wrong part of the header
_LAST_WITHOUT_RELEASE: Version = (2, 1, 5)
# the first and last version that return 500 for every new assignment, unless they open the ticket themselves
_OPEN_TICKETS: tuple[Version, Version] = ((2, 2, 0), (2, 2, 6))


@dataclass(frozen=True, slots=True)
class Server:
    """The *version* of a server, as it reports it, and whether it has self-scheduling (*self_service*)."""

    version: str
    self_service: bool

    @property
    def number(self) -> Version:
        """Return the number in the version; empty if it has none."""
        found = re.search(r"(\d+)\.(\d+)\.(\d+)", self.version)
        return tuple(map(int, found.groups())) if found else ()

    @property
    def releases(self) -> bool:
        """Return whether a user can end an assignment of self-scheduling."""
        return not self.number or self.number > _LAST_WITHOUT_RELEASE

    @property
    def must_open_tickets(self) -> bool:
        """Return whether self-scheduling works only if the server opens the ticket itself."""
        first, last = _OPEN_TICKETS
        return first <= self.number <= last

    @property
    def kind(self) -> str:
        """Return ``OLD``, ``SSM-early`` or ``SSM``."""
        if not self.self_service:
            return "OLD"
        return "SSM-early" if self.number and self.number <= _OPEN_TICKETS[1] else "SSM"


@dataclass(frozen=True, slots=True)
class Order:
    """A request for an assignment.

    Args:
        description: Ends with the mark.
        vlan: The number of a public VLAN.
        cloud: Empty for any cloud.
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
    """Return the kind of server, by its responses rather than by its version.

    Raises:
        UnfitServerError: If the server is not QUADS.
    """
    document = connection.read("/version/")
    if not isinstance(document, str):
        raise UnfitServerError(f"the server at {connection.account.url} is not QUADS: it returned no version")
    try:
        connection.read("/available", {"can_self_schedule": "true"})
    except RefusedError as error:
        if "can_self_schedule" not in error.reason:
            raise
        return Server(document, self_service=False)
    return Server(document, self_service=True)


class Quads:
    """A server with an account.

    Every call raises a RefusedError if the server refuses, and a LostAnswerError if no response arrives; it is then
    unknown whether a write was performed.
    """

    def __init__(self, connection: Connection, server: Server) -> None:
        self.connection = connection
        self.server = server
        self.account = connection.account

    # hosts

    def available(self, start: datetime | None, end: datetime | None) -> list[str]:
        """Return the names of the hosts that are free from *start*, by default now, to *end*, in the server's time.

        The query compares only for equality, since an operator would apply to the next filters too; ``1`` means false.
        """
        query = {"can_self_schedule": "true"} if self.server.self_service else {}
        query |= {name: query_time(each) for name, each in (("start", start), ("end", end)) if each is not None}
        return [str(name) for name in self._list("/available", query)]

    def is_available(self, host: str, start: datetime, end: datetime) -> bool:
        """Return whether a host is free; the server returns a text."""
        query = {"start": query_time(start), "end": query_time(end)}
        document = self.connection.read(f"/available/{quote(host)}", query)
        return isinstance(document, Mapping) and str(document.get(host)) == "True"

    def hosts(self) -> list[Host]:
        """Return all hosts."""
        return [host_of(each) for each in self._list("/hosts")]

    def host(self, name: str) -> Host:
        """Return one host."""
        return host_of(self.connection.read(f"/hosts/{quote(name)}"))

    # clouds and assignments

    def free_clouds(self) -> list[str]:
        """Return the names of the clouds without an assignment, sorted."""
        return sorted(str(each["name"]) for each in self._list("/clouds/free/"))

    def assignment(self, number: int) -> Assignment:
        """Return one assignment."""
        return assignment_of(self.connection.read(f"/assignments/{number}/"))

    def assignments(self, owner: str = "") -> list[Assignment]:
        """Return the active assignments; with *owner*, only the owner's, which are self-scheduled if possible."""
        query = {"active": "true"}
        if owner:
            query |= {"is_self_schedule": "true"} if self.server.self_service and not self.account.admin else {}
            query |= {"owner": owner}
        # some servers ignore unknown filters
        found = [assignment_of(each) for each in self._list("/assignments", query)]
        return [each for each in found if each.active and owner in ("", each.owner)]

    def active_on(self, cloud: str) -> Assignment | None:
        """Return the active assignment of a cloud; the server returns an empty object if none is active."""
        document = self.connection.read(f"/assignments/active/{quote(cloud)}/")
        return assignment_of(document) if document else None

    def rows(self, assignment: int) -> list[Row]:
        """Return all rows of an assignment, including past ones."""
        return [row_of(each) for each in self._list("/schedules", {"assignment_id": str(assignment)})]

    def rows_of_host(self, host: str) -> list[Row]:
        """Return all rows of a host."""
        return [row_of(each) for each in self._list("/schedules", {"host": host})]

    def moves(self) -> list[Mapping[str, Any]]:
        """Return the hosts that are not in their cloud yet."""
        return [each for each in self._list("/moves/") if isinstance(each, Mapping)]

    def progress(self, cloud: str) -> list[Mapping[str, Any]]:
        """Return the stage of each move; empty if the server has no such route."""
        try:
            document = self.connection.read("/moves/progress/", {"cloud": cloud})
        except RefusedError:
            return []
        return [each for each in document if isinstance(each, Mapping)] if isinstance(document, list) else []

    # writes

    def request(self, order: Order) -> int:
        """Request an assignment by self-scheduling, and return its id.

        Raises:
            DataQualityError: If the server's database rejected it.
        """
        wanted = {
            "description": order.description,
            # servers up to 2.2.6 require and trust it; later ones read it from the login
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
            document, _reply = self.connection.write("POST", "/assignments/self/", "make an assignment", body)
        except LostAnswerError as error:
            if self.server.must_open_tickets and not error.may_act:
                raise LostAnswerError(
                    f"{error}; QUADS 2.2.0 to 2.2.6 fails every request for self-scheduling unless it opens tickets "
                    "itself: ask the lab for ssm_jira_create_ticket or a newer QUADS",
                    may_act=False,
                ) from error
            raise
        return identity(_object(document), "assignment")

    def request_as_admin(self, order: Order, cloud: str) -> int:
        """Request an assignment on a server without self-scheduling, and return its id."""
        wanted = {
            "description": order.description,
            "owner": self.account.owner,
            "ticket": order.ticket,
            "cloud": cloud,
            # this server passes it to its database unchanged
            "wipe": bool(order.wipe),
            "qinq": order.qinq,
            "ccuser": " ".join(order.cc_users),
            "vlan": order.vlan,
        }
        body = {name: value for name, value in wanted.items() if value not in ("", None)}
        document, _reply = self.connection.write("POST", "/assignments/", f"make an assignment in {cloud}", body)
        return identity(_object(document), "assignment")

    def add_host(self, cloud: str, host: str, start: datetime | None, end: datetime | None) -> tuple[Row, ServerClock]:
        """Add a host to a cloud, and return its row and the server's clock as inferred from it.

        Both times are for a server without self-scheduling; other servers set them.
        """
        body: dict[str, Any] = {"cloud": cloud, "hostname": host}
        if start is not None and end is not None:
            body |= {"start": body_time(start), "end": body_time(end)}
        document, reply = self.connection.write("POST", "/schedules/", f"add {host} to {cloud}", body)
        row = row_of(_object(document))
        own_start = start is None and reply.date is not None
        return row, infer_clock(
            server_time(document["start"]), reply.date
        ) if own_start and reply.date else ServerClock()

    def terminate(self, number: int) -> None:
        """End an assignment; the caller compares its mark first."""
        self.connection.write("POST", f"/assignments/terminate/{number}/", f"end assignment {number}")

    def end_row(self, row: int, end: datetime) -> None:
        """Set the end of a row, as an administrator."""
        self.connection.write("PATCH", f"/schedules/{row}", f"set the end of row {row}", {"end": query_time(end)})

    def deactivate(self, number: int) -> None:
        """Deactivate an assignment without hosts, as an administrator."""
        self.connection.write("PATCH", f"/assignments/{number}/", f"end assignment {number}", {"active": False})

    def _list(self, path: str, query: Mapping[str, str] | None = None) -> list[Any]:
        document = self.connection.read(path, query)
        if not isinstance(document, list):
            raise UnfitServerError(f"QUADS returned no list at {path}")
        return document


def not_found(error: RefusedError) -> bool:
    """Return whether the requested object is missing, for which the server returns a 400."""
    return error.refusal is Refusal.NOT_FOUND


def _object(document: Any) -> Mapping[str, Any]:
    if not isinstance(document, Mapping):
        raise DataQualityError("QUADS returned no object for a write")
    return document
