"""Managed clusters by the API of a simulated OCM."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    ClusterError,
    Interrupted,
    PerfError,
    UsageError,
    WaitTimeoutError,
)
from ansible_collections.psap.perf.plugins.module_utils.exporting.places import Keys
from ansible_collections.psap.perf.plugins.module_utils.openshift.cluster_manager import ClusterManager
from ansible_collections.psap.perf.plugins.module_utils.provisioning.osd import (
    ManagedPlan,
    await_ready,
    body_of,
    delete,
    exists,
    request,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    Journal,
    new_record,
    read_record,
    record_path,
)

from tests.standins.http_servers import served
from tests.standins.openshift.ocm_api import OFFLINE_TOKEN, PASSWORD, ocm

pytestmark = pytest.mark.slow

PLAN = ManagedPlan("123456789012", Keys("an-id", "a-secret-key"))


@pytest.fixture
def manager() -> Iterator[ClusterManager]:
    with served(ocm()) as url, ClusterManager(url, f"{url}/token", OFFLINE_TOKEN, lambda _secret: None) as found:
        yield found


def ignore() -> None:
    return None


def journal_of(folder: Path, name: str = "perf-1", host: str = "sutest") -> Journal:
    path = record_path(folder / "run", host)
    journal = Journal(path, new_record("run-1", host, "osd", name=name, owner="jane", folder=str(folder / "own")))
    journal.note()
    return journal


def test_cluster_is_created_once_and_deleted_by_its_record(manager: ClusterManager, tmp_path: Path) -> None:
    journal, shown, hidden = journal_of(tmp_path), list[str](), list[str]()
    assert request(manager, journal.record, PLAN)
    assert not request(manager, journal.record, PLAN)
    await_ready(manager, journal, 30.0, ignore, shown.append, hidden.append)
    record = read_record(journal.path)
    assert record is not None
    assert (record.phase, record.api) == (CREATED, "https://api.perf-1.invalid:6443")
    assert Path(record.password.file).read_text(encoding="utf-8") == PASSWORD
    assert hidden == [PASSWORD]
    assert PASSWORD not in journal.path.read_text(encoding="utf-8")
    assert {stat.S_IMODE(Path(each).stat().st_mode) for each in (record.kubeconfig, record.password.file)} == {0o600}
    assert exists(manager, record)
    assert delete(manager, record, 30.0, ignore, shown.append)
    assert not delete(manager, record, 30.0, ignore, shown.append)
    assert not exists(manager, record)


def test_cluster_is_found_again_after_a_lost_response(manager: ClusterManager, tmp_path: Path) -> None:
    journal = journal_of(tmp_path, "lost")
    assert request(manager, journal.record, PLAN)
    assert delete(manager, journal.record, 30.0, ignore, lambda _message: None)


def test_foreign_cluster_is_neither_used_nor_deleted(manager: ClusterManager, tmp_path: Path) -> None:
    request(manager, journal_of(tmp_path).record, PLAN)
    other = journal_of(tmp_path, host="driver").record
    with pytest.raises(ClusterError, match="OCM has a cluster perf-1 that run-1/driver did not create"):
        request(manager, other, PLAN)
    assert not delete(manager, other, 1.0, ignore, lambda _message: None)


def test_ocm_error_ends_the_wait(manager: ClusterManager, tmp_path: Path) -> None:
    journal = journal_of(tmp_path, "refused")
    request(manager, journal.record, PLAN)
    with pytest.raises(ClusterError, match="could not create the cluster refused: the account has no quota"):
        await_ready(manager, journal, 30.0, ignore, lambda _message: None, lambda _secret: None)


def test_wait_ends_at_timeout_and_on_request(manager: ClusterManager, tmp_path: Path) -> None:
    journal = journal_of(tmp_path)
    request(manager, journal.record, PLAN)
    with pytest.raises(WaitTimeoutError, match="was not ready within 0 s: installing"):
        await_ready(manager, journal, 0.0, ignore, lambda _message: None, lambda _secret: None)

    def interrupt() -> None:
        raise Interrupted("interrupted")

    delete_journal = journal_of(tmp_path, "perf-2", "driver")
    request(manager, delete_journal.record, PLAN)
    with pytest.raises(Interrupted):
        await_ready(manager, delete_journal, 30.0, interrupt, lambda _message: None, lambda _secret: None)


def test_invalid_arguments_are_refused_early_and_keys_hidden(tmp_path: Path) -> None:
    record = journal_of(tmp_path).record
    assert body_of(record, replace(PLAN, release="4.18.3"))["version"] == {"id": "openshift-v4.18.3"}
    assert "expiration_timestamp" not in body_of(record, replace(PLAN, expires=False))
    assert "a-secret-key" not in repr(PLAN)
    with pytest.raises(UsageError, match="is not the number of an AWS account"):
        body_of(record, replace(PLAN, account="12"))


@pytest.mark.parametrize(
    ("nodes", "multi_az", "message"),
    [(1, False, "at least 2 workers"), (2, True, "zones has at least 3 workers"), (4, True, "a multiple of 3 workers")],
)
def test_node_counts_that_ocm_refuses_are_refused_early(
    manager: ClusterManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: int, multi_az: bool, message: str
) -> None:
    record, plan = journal_of(tmp_path).record, replace(PLAN, nodes=nodes, multi_az=multi_az)
    with pytest.raises(UsageError, match=message):
        request(manager, record, plan)
    monkeypatch.setattr(ManagedPlan, "check", lambda _self: None)
    with pytest.raises(PerfError, match="not possible"):
        request(manager, record, plan)


@pytest.mark.parametrize(("multi_az", "nodes"), [(False, 2), (True, 3)])
def test_default_node_count_fits_the_zones(manager: ClusterManager, tmp_path: Path, multi_az: bool, nodes: int) -> None:
    record, plan = journal_of(tmp_path).record, replace(PLAN, multi_az=multi_az)
    assert body_of(record, plan)["nodes"]["compute"] == nodes
    assert request(manager, record, plan)
    assert request(manager, record, replace(plan, nodes=6)) is False
