"""Clusters of Hive's pools: claimed, awaited, lost, released; and processes killed at any call."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.provisioning.hive import (
    ClaimLostError,
    await_claim,
    claim,
    is_claimed,
    lease_end,
    release,
)
from ansible_collections.psap.perf.plugins.module_utils.provisioning.record import (
    CREATED,
    DESTROYED,
    Journal,
    new_record,
    read_record,
    record_path,
)

from .hub import Hub, Killed, kill_points

pytestmark = pytest.mark.slow

POOL = {"namespace": "hive", "pool": "small", "hub": {}}


def _journal(tmp_path: Path, run: str = "a-run", time_to_live: str = "12h") -> Journal:
    record = new_record(run, "sutest", "hive", name="mine", time_to_live=time_to_live, folder=str(tmp_path / "own"))
    return Journal(record_path(tmp_path, "sutest"), replace(record, destruction=POOL))


def _create(hub: Hub, journal: Journal, timeout_s: float = 5.0, patience_s: float = 0.0) -> None:
    journal.note()
    claim(hub.cluster(), journal)
    await_claim(hub.cluster(), journal, timeout_s, patience_s, lambda: None, lambda _text: None)


def test_claimed_cluster_is_recorded_and_gone_after_release(tmp_path: Path) -> None:
    hub, journal = Hub(), _journal(tmp_path)
    _create(hub, journal)
    record = read_record(journal.path)
    assert record is not None
    assert (record.phase, record.api, record.console) == (CREATED, "https://api.small-0", "https://console.small-0")
    assert record.password.secret == "small-0/password"
    assert record.expires == "2026-11-25T09:00:00.000Z"
    kubeconfig = Path(record.kubeconfig)
    assert kubeconfig.read_text() == "the kubeconfig"
    assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600
    assert is_claimed(hub.cluster(), record)
    assert hub.claims()[0]["spec"]["lifetime"] == "43200s"
    assert release(hub.cluster(), record)
    assert not release(hub.cluster(), record)
    assert hub.claims() == []


def test_existing_claim_is_found_again(tmp_path: Path) -> None:
    hub, journal = Hub(), _journal(tmp_path)
    journal.note()
    assert claim(hub.cluster(), journal)
    assert not claim(hub.cluster(), journal)
    assert len(hub.claims()) == 1


def test_foreign_claim_is_neither_used_nor_released(tmp_path: Path) -> None:
    hub, journal = Hub(), _journal(tmp_path)
    _create(hub, journal)
    other = _journal(tmp_path / "other", run="another-run")
    with pytest.raises(ClusterError, match="that another-run/sutest did not create"):
        _create(hub, other)
    assert not release(hub.cluster(), other.record)
    assert len(hub.claims()) == 1


def test_missing_pool_is_reported_with_existing_pools(tmp_path: Path) -> None:
    hub, journal = Hub(), _journal(tmp_path)
    journal.note(destruction={**POOL, "pool": "large"})
    with pytest.raises(ClusterError, match="no ClusterPool large in namespace hive; known: small"):
        claim(hub.cluster(), journal)


def _deleted(hub: Hub, claimed: Manifest) -> None:
    hub.objects.pop(("ClusterClaim", "hive", claimed["metadata"]["name"]))


def _waits(_hub: Hub, claimed: Manifest) -> None:
    reason = {"reason": "NoClusters", "message": "No clusters in pool are ready to be claimed"}
    claimed["status"] = {"conditions": [{"type": "Pending", "status": "True", **reason}]}


def _has_lost_its_cluster(hub: Hub, claimed: Manifest) -> None:
    hub.runs(claimed)
    lost = {"status": "False", "reason": "ClusterDeleted", "message": "Assigned cluster has been deleted"}
    claimed["status"]["conditions"][1].update(lost)


def _leaves(_hub: Hub, claimed: Manifest) -> None:
    claimed["metadata"]["deletionTimestamp"] = "2026-11-25T08:00:00Z"


def _cannot_start(hub: Hub, claimed: Manifest) -> None:
    hub.runs(claimed)
    claimed["status"]["conditions"][1].update(status="False", reason="Resuming", message="Waiting for cluster")
    ready = {"type": "Ready", "status": "False", "reason": "FailedToStartMachines", "message": "no capacity"}
    hub.objects["ClusterDeployment", "small-0", "small-0"]["status"]["conditions"] = [ready]


@pytest.mark.parametrize(
    ("becomes", "message"),
    [
        (_has_lost_its_cluster, "the cluster of ClusterClaim mine is gone: Assigned cluster has been deleted"),
        (_leaves, "is being deleted, by another user or because its lifetime is over"),
    ],
)
def test_lost_cluster_ends_the_wait_immediately(
    tmp_path: Path, becomes: Callable[[Hub, Manifest], None], message: str
) -> None:
    with pytest.raises(ClaimLostError, match=message):
        _create(Hub(becomes), _journal(tmp_path), timeout_s=300)


def test_disappeared_claim_ends_the_wait_immediately(tmp_path: Path) -> None:
    looks = iter((_waits, _deleted))
    hub = Hub(lambda hub, claimed: next(looks)(hub, claimed))
    with pytest.raises(ClaimLostError, match="mine was deleted while its cluster was awaited"):
        _create(hub, _journal(tmp_path), timeout_s=300)


def test_failed_machine_start_ends_the_wait_early(tmp_path: Path) -> None:
    with pytest.raises(WaitTimeoutError, match="will not be: mine: FailedToStartMachines: no capacity"):
        _create(Hub(_cannot_start), _journal(tmp_path), timeout_s=300)


def test_exhausted_pool_is_reported_with_its_content(tmp_path: Path) -> None:
    with pytest.raises(
        WaitTimeoutError, match=r"No clusters in pool are ready.*pool small has 0 clusters running.*1 at most"
    ):
        _create(Hub(_waits), _journal(tmp_path), timeout_s=0.2)


def test_claim_without_a_lifetime_does_not_end() -> None:
    assert lease_end({"status": {"conditions": []}}) is None


def test_kill_at_any_call_is_cleaned_up_by_the_record(tmp_path: Path) -> None:
    whole = Hub()
    _create(whole, _journal(tmp_path / "whole"))
    calls = whole.calls
    assert calls >= 5
    for number, acted in kill_points(calls):
        hub, folder = Hub(), tmp_path / f"{number}-{acted}"
        hub.die_at = (number, acted)
        with pytest.raises(Killed):
            _create(hub, _journal(folder))
        hub.die_at = None
        record = read_record(record_path(folder, "sutest"))
        assert record is not None
        release(hub.cluster(), record)
        Journal(record_path(folder, "sutest"), record).forget()
        assert hub.claims() == []
        assert not Path(record.folder).exists()


def test_killed_release_is_completed_by_the_next(tmp_path: Path) -> None:
    for number, acted in kill_points(3):
        hub, folder = Hub(), tmp_path / f"{number}-{acted}"
        journal = _journal(folder)
        _create(hub, journal)
        hub.calls, hub.die_at = 0, (number, acted)
        with pytest.raises(Killed):
            release(hub.cluster(), journal.record)
        hub.die_at = None
        again = Journal(journal.path, read_record(journal.path) or journal.record)
        release(hub.cluster(), again.record)
        again.forget()
        assert hub.claims() == []
        assert (read_record(journal.path) or journal.record).phase == DESTROYED
