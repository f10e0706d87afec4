"""Records of clusters: written before anything is created, and read again."""

from __future__ import annotations

import stat
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    DESTROYED,
    ClusterRecord,
    Journal,
    Password,
    new_record,
    read_record,
    read_records,
    record_path,
    write_private,
    write_record,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.schemas import check_file

RUN = "scale_test-20261125T080000Z-1f0c9a"


def _record(tmp_path: Path, host: str = "sutest") -> ClusterRecord:
    now = datetime(2026, 11, 25, 8, tzinfo=UTC)
    return new_record(RUN, host, "hive", owner="jane", time_to_live="2h", folder=str(tmp_path / "own"), now=now)


def test_record_round_trips_and_follows_its_schema(tmp_path: Path) -> None:
    path = record_path(tmp_path, "sutest")
    journal = Journal(path, _record(tmp_path))
    assert journal.note()
    assert journal.note(password=Password(secret="a/b", key="password"), destruction={"claim": "x"}, keep=True)
    assert not journal.note(keep=True)
    assert read_record(path) == journal.record
    assert check_file(path) == "psap.perf/cluster-record/1"
    assert journal.record.expires == "2026-11-25T10:00:00.000Z"


def test_new_record_replaces_that_of_a_destroyed_cluster(tmp_path: Path) -> None:
    path = record_path(tmp_path, "sutest")
    former = Journal(path, _record(tmp_path))
    former.note()
    former.forget()

    assert Journal(path, _record(tmp_path)).note()

    assert read_record(path) == _record(tmp_path)
    assert (tmp_path / "own" / RUN / "sutest").is_dir()


def test_record_and_secrets_are_private(tmp_path: Path) -> None:
    record = _record(tmp_path)
    write_record(record_path(tmp_path, "sutest"), record)
    secret = Path(record.folder) / "kubeconfig"
    write_private(secret, "token")
    write_private(secret, "another")
    modes = [
        stat.S_IMODE(path.stat().st_mode) for path in (record_path(tmp_path, "sutest"), Path(record.folder), secret)
    ]
    assert modes == [0o600, 0o700, 0o600]
    assert secret.read_text() == "another"
    assert [path.name for path in Path(record.folder).iterdir()] == ["kubeconfig"]


def test_destroyed_cluster_leaves_only_its_record(tmp_path: Path) -> None:
    other = Journal(record_path(tmp_path, "driver"), _record(tmp_path, "driver"))
    journal = Journal(record_path(tmp_path, "sutest"), _record(tmp_path))
    for each in (other, journal):
        each.note(phase=CREATED)
    assert journal.forget()
    assert not journal.forget()
    assert not Path(journal.record.folder).exists()
    assert Path(other.record.folder).exists()
    other.forget()
    assert list((tmp_path / "own").iterdir()) == []
    assert [(each.host, each.phase) for each in read_records(tmp_path)] == [
        ("driver", DESTROYED),
        ("sutest", DESTROYED),
    ]


def test_only_a_complete_cluster_is_kept(tmp_path: Path) -> None:
    journal = Journal(record_path(tmp_path, "sutest"), _record(tmp_path))
    journal.note(keep=True)
    assert not journal.record.kept
    journal.note(phase=CREATED)
    assert journal.record.kept


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"method": "magic"}, "unknown method"),
        ({"name": "Upper"}, "invalid cluster name"),
        ({"host": "../x"}, "not a valid name of a host"),
        ({"time_to_live": "0"}, "must not be 0"),
        ({"time_to_live": "soon"}, "not a duration"),
    ],
)
def test_invalid_cluster_fields_are_refused(wrong: dict[str, str], message: str) -> None:
    args = {"host": "sutest", "method": "hive", **wrong}
    with pytest.raises(UsageError, match=message):
        new_record(RUN, args.pop("host"), args.pop("method"), **args)  # type: ignore[arg-type]


def test_invalid_record_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"schema": "psap.perf/cluster-record/1", "host": "sutest"}')
    with pytest.raises(PerfError, match=r"x\.json is not the record of a cluster"):
        read_record(path)


@given(st.text("abc-T0", min_size=1, max_size=60), st.sampled_from(["sutest", "driver"]))
def test_cluster_names_come_from_the_run_and_are_short(run: str, host: str) -> None:
    record = new_record(run, host, "ocp")
    assert len(record.name) <= 21
    assert record.name == new_record(run, host, "osd").name
    assert record.name != new_record(run + "x", host, "ocp").name
    assert set(asdict(record)) == set(ClusterRecord.__dataclass_fields__)
