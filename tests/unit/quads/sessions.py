"""A client of the simulated server, as in the driver's processes: one dies, another continues with the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.quads.booked import Booked, Partial, Wanted
from ansible_collections.psap.perf.plugins.module_utils.quads.booking import Booker
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Order, Quads, detect
from ansible_collections.psap.perf.plugins.module_utils.quads.connection import Account, Connection
from ansible_collections.psap.perf.plugins.module_utils.quads.record import (
    RELEASED,
    Journal,
    Record,
    Records,
    part_mark,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import ReleaseResult, parts, release
from ansible_collections.psap.perf.plugins.module_utils.quads.splitting import split

from tests.standins.quads.faults import Direct, ManualTime
from tests.standins.quads.lab import OLD, Lab, Settings, example
from tests.standins.quads.server import StandIn

USERS = {"jane@example.com": "planted-quads-w0rd", "root@example.com": "planted-adm1n-w0rd"}
MARK = "run-1/cluster"


@dataclass(slots=True)
class Session:
    """The simulated server, its clock, and one user's bookings."""

    runs: Path
    settings: Settings = field(default_factory=Settings)
    time: ManualTime = field(default_factory=ManualTime)
    mark: str = MARK
    lab: Lab = field(init=False)
    server: StandIn = field(init=False)
    wire: Direct = field(init=False)
    messages: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lab = example(self.time.now, self.settings)
        self.server = StandIn(self.lab)
        self.wire = Direct(self.server, self.time)

    @property
    def admin(self) -> bool:
        """Return whether only an administrator can change assignments."""
        return self.settings.mode == OLD

    @property
    def account(self) -> Account:
        """Return the user's account."""
        user = "root@example.com" if self.admin else "jane@example.com"
        return Account("http://quads.test/base", user, USERS[user], admin=self.admin)

    def client(self) -> Quads:
        """Return the client of a new process, without a token."""
        connection = Connection(self.account, self.wire, self.time)
        return Quads(connection, detect(connection))

    def journal(self, mark: str = "") -> Journal:
        """Return the journal as a new process reads it."""
        mark = mark or self.mark
        records = Records(self.runs)
        offset_s = self.settings.zone_hours * 3600 if self.admin else None
        new = Record(mark, self.account.url, self.account.user, offset_s=offset_s, admin=self.admin)
        return Journal(records, records.read(mark) or new)

    def book(self, count: int = 3, partial: Partial = Partial.SUBSTITUTE, **options: object) -> Booked:
        """Book hosts in a new process."""
        hosts = tuple(name for name, host in sorted(self.lab.hosts.items()) if host["open"])
        wanted = Wanted(hosts, count, at_least=1, partial=partial, shortest=timedelta(hours=20), **options)  # type: ignore[arg-type]
        booker = Booker(self.client(), self.journal(), self.messages.append)
        return booker.book(Order("a test", ticket="PERF-1"), wanted)

    def book_split(self, count: int, clouds: int, at_least: int = 1) -> list[Booked]:
        """Book over several clouds in a new process."""
        hosts = tuple(name for name, host in sorted(self.lab.hosts.items()) if host["open"])
        wanted = Wanted(hosts, count, at_least=at_least, shortest=timedelta(hours=20))
        quads, order = self.client(), Order("a test", ticket="PERF-1")

        def book(number: int, share: Wanted) -> Booked:
            return Booker(quads, self.journal(part_mark(self.mark, number)), self.messages.append).book(order, share)

        return split(wanted, clouds, book, self.release)

    def release(self) -> None:
        """Release in a new process."""
        self.release_all()

    def release_all(self) -> list[ReleaseResult]:
        """Release in a new process, and return the released hosts of each part."""
        quads, found = self.client(), []
        for mark in {self.mark, *parts(quads, self.mark)}:
            journal = self.journal(mark)
            found.append(release(quads, journal.record))
            journal.note(phase=RELEASED)
        return found

    @property
    def own(self) -> list[Mapping[str, object]]:
        """Return the active assignments with the mark, in the format of the lab."""
        end = f"(psap.perf {self.mark})"
        return [each for each in self.lab.assignments if each["active"] and str(each["description"]).endswith(end)]

    def rows(self, assignment: object) -> list[str]:
        """Return the hosts with a running row, once for each row."""
        return [row["host"] for row in self.lab.rows if row["assignment"] == assignment and self.lab.running(row)]
