"""The records of the stand-in and the two periodic jobs that work on them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

OLD, SSM_215, SSM_216, SSM_226, SSM = "2.1.0", "2.1.5", "2.1.6", "2.2.6", "later"
SPARE = "cloud01"
_XEON = {"vendor": "Intel(R) Corporation", "product": "Xeon Gold", "cores": 20, "threads": 40}
_GPU = {"handle": "0x9", "vendor": "NVIDIA", "product": "A100", "cores": 0, "threads": 0}

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Generation:
    """The behaviour of one version of the server; the defaults are those of revisions after 2.2.6."""

    version: str
    self_service: bool = True
    believes_owner: bool = False
    """Whether ``owner`` is required in a request, and trusted."""
    created: int = 201
    wraps_deadline: bool = True
    """Whether a lease that would end before it begins gets its full days; otherwise it is refused."""
    compares_header: bool = False
    """Whether ``terminate`` compares the owner with a part of the header, which no owner equals."""
    ends_empty: bool = True
    """Whether ``terminate`` accepts an assignment without hosts, and sets it inactive."""
    needs_own_tickets: bool = False
    """Whether a request fails with a 500 unless the server opens the ticket itself."""
    shows_progress: bool = True
    prefix: str = "[SSM] "
    ticket_required: bool = True
    admin_books: bool = True


_EARLY = Generation(
    "", believes_owner=True, created=200, wraps_deadline=False, shows_progress=False, prefix="", ticket_required=False
)
GENERATIONS = {
    OLD: Generation("2.1.0 bowie", self_service=False, created=200, shows_progress=False),
    SSM_215: replace(_EARLY, version="2.1.5 bowie", compares_header=True, ends_empty=False, admin_books=False),
    SSM_216: replace(_EARLY, version="2.1.6 bowie", ends_empty=False, admin_books=False),
    SSM_226: replace(_EARLY, version="2.2.6 sabbath", needs_own_tickets=True),
    SSM: Generation("2.3.0 maiden"),
}


@dataclass(slots=True)
class Settings:
    """The settings of a lab's owner. Delays are seconds after a booking, of the move and of the validation."""

    mode: str = SSM
    ticket_s: float = 0
    """Seconds in which the server opens a ticket before it creates the assignment."""
    enabled: bool = True
    tickets: bool = False
    host_limit: int = 10
    cloud_limit: int = 3
    model_share: float = 1.0
    lifetime_days: float = 5
    deadline: tuple[int, int] = (6, 21)
    zone_hours: float = -5.0
    token_s: float = 15600.0
    move_s: float = 600.0
    validation_s: float = 7200.0
    stuck: set[str] = field(default_factory=set)
    invalid: set[str] = field(default_factory=set)

    @property
    def generation(self) -> Generation:
        """The behaviour of the version."""
        return GENERATIONS[self.mode]


@dataclass(slots=True)
class Lab:
    """A lab: *now* is the correct time."""

    now: Callable[[], datetime]
    settings: Settings = field(default_factory=Settings)
    hosts: dict[str, Json] = field(default_factory=dict)
    clouds: list[Json] = field(default_factory=list)
    assignments: list[Json] = field(default_factory=list)
    rows: list[Json] = field(default_factory=list)
    users: dict[str, tuple[str, str]] = field(default_factory=dict)
    tokens: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def local(self) -> datetime:
        """Return the naive wall-clock time of the server."""
        return self.now().astimezone(UTC).replace(tzinfo=None) + timedelta(hours=self.settings.zone_hours)

    def new_id(self) -> int:
        """Return an unused ID."""
        return next(self._ids)

    def running(self, row: Json) -> bool:
        """Return whether a row is current."""
        return bool(row["start"] <= self.local() < row["end"])

    def free(self, host: str, start: datetime, end: datetime) -> bool:
        """Return whether a host is free in a window, whose begin is moved by a minute."""
        record = self.hosts[host]
        start += timedelta(minutes=1)
        taken = any(row["host"] == host and row["start"] < end and start < row["end"] for row in self.rows)
        return not (taken or record["broken"] or record["retired"])

    def active_on(self, cloud: str) -> list[Json]:
        """Return the active assignments of a cloud: two, after a race."""
        return [each for each in self.assignments if each["active"] and each["cloud"] == cloud]

    def free_clouds(self) -> list[Json]:
        """Return the clouds that self-scheduling can use."""
        over = {(self.of(row["assignment"]) or {}).get("cloud") for row in self.rows if row["end"] <= self.local()}
        # OLD lists a cloud with a row that ended, even if the cloud is in use
        listed = over if not self.settings.generation.self_service else set()
        free = [each for each in self.clouds if each["name"] in listed or not self.active_on(each["name"])]
        return [each for each in free if each["name"] != SPARE]

    def model_is_used_up(self, model: str) -> bool:
        """Return whether the maximum share of a model's hosts is self-scheduled, in newer servers."""
        own = [name for name, host in self.hosts.items() if host["model"] == model]
        taken = [row for row in self.rows if row["host"] in own and self.running(row)]
        return len(taken) >= self.settings.model_share * len(own)

    def assign(self, cloud: str, owner: str, description: str, **more: Any) -> Json:
        """Add an assignment."""
        record: Json = {
            "id": self.new_id(),
            "cloud": cloud,
            "owner": owner,
            "description": description,
            "active": True,
            "provisioned": False,
            "validated": False,
            "wipe": False,
            "qinq": 0,
            "ticket": "",
            "vlan": None,
            "ccuser": [],
            "open": False,
            "notification": {"fail": False, "success": False},
            **more,
        }
        self.assignments.append(record)
        return record

    def schedule(self, assignment: Json, host: str, start: datetime, end: datetime) -> Json:
        """Add a row without checks."""
        row: Json = {"id": self.new_id(), "assignment": assignment["id"], "host": host, "start": start, "end": end}
        self.rows.append(row)
        return row

    def lease_end(self, start: datetime) -> datetime:
        """Return the end of a lease that begins at *start*: days of life, cut by a weekly deadline without wrap."""
        day, hour = self.settings.deadline
        life = timedelta(days=self.settings.lifetime_days)
        ahead = day - start.weekday()
        if ahead < self.settings.lifetime_days:
            end = (start + timedelta(days=ahead)).replace(hour=hour, minute=0, second=0, microsecond=0)
            if end > start or not self.settings.generation.wraps_deadline:
                return end
        return start + life

    def of(self, number: int) -> Json | None:
        """Return an assignment by its ID."""
        return next((each for each in self.assignments if each["id"] == number), None)

    # the jobs

    def work(self) -> None:
        """Execute what the jobs have done by now."""
        now = self.local()
        for assignment in self.assignments:
            mine = [row for row in self.rows if row["assignment"] == assignment["id"]]
            current = [row for row in mine if self.running(row)]
            if assignment["active"] and current:
                self._deliver(assignment, current, now)
            for row in mine:
                self._return_host(assignment, row, now)
            if assignment["active"] and mine and all(row["end"] <= now for row in mine):
                assignment["active"] = any(self.hosts[row["host"]]["cloud"] == assignment["cloud"] for row in mine)

    def _deliver(self, assignment: Json, rows: list[Json], now: datetime) -> None:
        settings, cloud = self.settings, assignment["cloud"]
        for row in rows:
            host = self.hosts[row["host"]]
            due = now >= row["start"] + timedelta(seconds=settings.move_s)
            if host["cloud"] != cloud:
                if due and host["name"] not in settings.stuck:
                    host.update(cloud=cloud, validated=False)
                elif now >= row["start"] + timedelta(seconds=settings.move_s / 2):
                    # until the job runs, the flags of a delivered cloud do not change
                    assignment.update(provisioned=False, validated=False)
        if any(self.hosts[row["host"]]["cloud"] != cloud for row in rows):
            return
        assignment["provisioned"] = True
        if not assignment["wipe"]:
            assignment["validated"] = True
            return
        if now < max(row["start"] for row in rows) + timedelta(seconds=settings.validation_s):
            return
        for row in rows:
            self.hosts[row["host"]]["validated"] = row["host"] not in settings.invalid
        passed = all(self.hosts[row["host"]]["validated"] for row in rows)
        assignment["validated"] = passed
        # a failure stays recorded beside a later success
        assignment["notification"]["success" if passed else "fail"] = True

    def _return_host(self, assignment: Json, row: Json, now: datetime) -> None:
        host = self.hosts[row["host"]]
        due = now >= row["end"] + timedelta(seconds=self.settings.move_s) and host["cloud"] == assignment["cloud"]
        if due and not any(each["host"] == row["host"] and self.running(each) for each in self.rows):
            host.update(cloud=host["home"], validated=False)

    def moves(self) -> list[Json]:
        """Return the hosts that are not in their scheduled cloud."""
        found = []
        for name, host in sorted(self.hosts.items()):
            row = next((each for each in self.rows if each["host"] == name and self.running(each)), None)
            assignment = self.of(row["assignment"]) if row else None
            wanted = assignment["cloud"] if assignment else host["home"]
            if wanted != host["cloud"]:
                found.append({"host": name, "current": host["cloud"], "new": wanted})
        return found


def example(now: Callable[[], datetime], settings: Settings | None = None, hosts: int = 12, clouds: int = 6) -> Lab:
    """Return a lab of Dell servers of three models, with two users and an administrator."""
    lab = Lab(now, settings or Settings())
    lab.clouds = [{"id": n, "name": f"cloud{n:02}", "last_redefined": lab.local()} for n in range(1, clouds + 1)]
    for n in range(hosts):
        model = ("R640", "R650", "R750")[n % 3]
        name = f"f{n:02}-h01-{model.lower()}.lab.example.com"
        lab.hosts[name] = {
            "id": 100 + n,
            "name": name,
            "model": model,
            "host_type": "scalelab",
            "cloud": SPARE,
            "home": SPARE,
            "validated": False,
            "broken": n == 9,
            "retired": n == 10,
            "open": n != 11,
            "build": True,
            "switch_config_applied": True,
            "disks": [
                {"disk_type": "nvme", "size_gb": 3200, "count": 1 + n % 2},
                {"disk_type": "sata", "size_gb": 480, "count": 2},
            ],
            "interfaces": [
                {"name": "em1", "mac_address": f"00:00:5e:00:53:{n:02x}", "vendor": "Intel", "speed": 25000,
                 "pxe_boot": True, "maintenance": False, "switch_ip": "192.0.2.1", "switch_port": f"et-0/0/{n}",
                 "bios_id": "NIC.1"},
                {"name": "em2", "mac_address": f"00:00:5e:00:54:{n:02x}", "vendor": "Mellanox Technologies",
                 "speed": 100000, "pxe_boot": False, "maintenance": False, "switch_ip": "192.0.2.1",
                 "switch_port": f"et-0/1/{n}", "bios_id": "NIC.2"},
            ],
            "memory": [{"handle": f"0x{m}", "size_gb": 64} for m in range(4)],
            "processors": [{"handle": "0x1", **_XEON}, {"handle": "0x2", **_XEON}, *([_GPU] if n % 3 == 2 else [])],
        }  # fmt: skip
    lab.users = {
        "jane@example.com": ("planted-quads-w0rd", "user"),
        "joe@example.com": ("planted-0ther-w0rd", "user"),
        "root@example.com": ("planted-adm1n-w0rd", "admin"),
    }
    return lab
