"""A request over several clouds: within the limits of a lab, complete or not at all."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.quads.awaiting import read_delivery, wait
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import QuadsError
from ansible_collections.psap.perf.plugins.module_utils.quads.inventory import Part, machines, plain
from ansible_collections.psap.perf.plugins.module_utils.quads.record import Records, mark_of, whole_mark
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import parts

from tests.standins.quads.faults import Killed
from tests.standins.quads.lab import example
from tests.standins.quads.server import StandIn
from tests.unit.quads.sessions import MARK, Session


def large_lab(tmp_path: Path, hosts: int = 40) -> Session:
    session = Session(tmp_path)
    session.lab = example(session.time.now, session.settings, hosts)
    session.server = session.wire.server = StandIn(session.lab)
    return session


def active_descriptions(session: Session) -> list[str]:
    return [str(each["description"]) for each in session.lab.assignments if each["active"]]


def test_25_nodes_need_three_clouds_of_ten(tmp_path: Path) -> None:
    session = large_lab(tmp_path)
    with pytest.raises(QuadsError, match=r"booked 10 hosts of at least 25, .*maximum number of hosts"):
        session.book_split(25, 1, at_least=25)
    assert active_descriptions(session) == []

    booked = session.book_split(25, 3, at_least=25)

    assert [len(each.rows) for each in booked] == [9, 8, 8]
    assert len({row.host.name for each in booked for row in each.rows}) == 25
    assert {each.assignment.cloud for each in booked} == {"cloud02", "cloud03", "cloud04"}
    # Repeating it changes nothing.
    assert not any(each.changed for each in session.book_split(25, 3, at_least=25))
    quads, records = session.client(), Records(tmp_path)
    assert parts(quads, MARK) == [MARK, f"{MARK}+2", f"{MARK}+3"]

    looked = [(each, each.hosts) for each in records.parts(MARK)]
    deliveries = wait(quads, looked, timedelta(hours=4), timedelta(minutes=5), session.messages.append)

    assert sum(len(each.hosts) for each in deliveries) == 25
    assert "cloud02: " in session.messages[-1] and "cloud04: " in session.messages[-1]
    text = plain([Part(machines(each.hosts), each.assignment, each.reservation) for each in deliveries], "quads")
    group = yaml.safe_load(text)["all"]["children"]["quads"]
    assert len(group["children"]["cloud03"]["hosts"]) == 8
    assert group["children"]["cloud04"]["vars"]["quads_cloud"] == "cloud04"

    session.release()
    assert active_descriptions(session) == []


def test_hosts_beyond_one_cloud_go_to_the_next(tmp_path: Path) -> None:
    session = large_lab(tmp_path)
    session.settings.host_limit = 5
    assert [len(each.rows) for each in session.book_split(12, 2, at_least=9)] == [5, 5]


def test_unavailable_cloud_releases_the_others(tmp_path: Path) -> None:
    session = large_lab(tmp_path)
    session.settings.cloud_limit = 2
    with pytest.raises(QuadsError, match=r"booked 17 hosts of at least 25 in 2 clouds, .*limit reached"):
        session.book_split(25, 3, at_least=25)
    assert active_descriptions(session) == []
    assert len(session.book_split(25, 3, at_least=15)) == 2


def test_killed_split_booking_is_released_completely(tmp_path: Path) -> None:
    clean = large_lab(tmp_path / "clean")
    clean.runs.mkdir()
    clean.book_split(4, 2)
    for number, call in enumerate(clean.wire.calls):
        if not call.startswith("POST"):
            continue
        for fault in ("killed before", "killed after"):
            session = large_lab(tmp_path / f"{number}{fault[7]}")
            session.runs.mkdir()
            session.wire.faults = {number: fault}
            with pytest.raises(Killed):
                session.book_split(4, 2)
            session.book_split(4, 2)
            assert len(active_descriptions(session)) == 2, call
            session.release()
            assert active_descriptions(session) == [], call


def test_mark_identifies_its_parts_and_no_other(tmp_path: Path) -> None:
    assert mark_of("[SSM] x (psap.perf a/b+2)") == "a/b+2" and whole_mark("a/b+2") == "a/b" == whole_mark("a/b")
    assert mark_of("x (psap.perf a/b) y") == ""
    session = large_lab(tmp_path)
    session.book_split(2, 2)
    assert parts(session.client(), "run-1/clust") == []
    record = session.journal(f"{MARK}+2").record
    assert read_delivery(session.client(), record, record.hosts).assignment.cloud == "cloud03"
