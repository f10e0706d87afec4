"""One run at a time changes a cluster: refusal and queueing of a second one, and the lease of a killed one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import descendants
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.lease import (
    LeaseHeldError,
    _Attempt,
    acquire,
    read_queue,
    release,
)
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import NAME, Holder, named, read_lease
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access
from ansible_collections.psap.perf.plugins.module_utils.run.directory import hold
from ansible_collections.psap.perf.plugins.module_utils.run.directory import release as release_lock
from ansible_collections.psap.perf.plugins.plugin_utils.lease_keeping import PROCESS_NAME, HeldLease, LeaseKeeper

from tests.integration.conftest import Lab, perflab
from tests.polling import PATIENCE_S, wait_until

FLOW = ("run", "scale_test", "-i", "lab", "-s", "scale_test_count=40", "-s", "scale_test_rate=2")


def has_begun(lab: Lab, runs: Path) -> str:
    """Wait until a run submits; return its ID."""
    (path, *_) = wait_until(lambda: list(runs.glob("scale_test-*/*cell__0/*submit/artifacts/progress.json")))
    return path.parents[3].name


def holder(lab: Lab, runs: Path) -> str | None:
    """Return the run that holds the lease, as perfdrv prints it."""
    ended = lab.run(runs, "perfdrv", "lock", "status", "-i", "lab", "--json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    return str(document["run"]) if document["held"] else None


def jobs(lab: Lab) -> int:
    """Return the number of Jobs of runs in the cluster."""
    command = ["kubectl", "--kubeconfig", str(lab.kubeconfig), "get", "jobs", "-A", "-o", "name"]
    return len(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_second_run_is_refused_and_harms_nothing(shared_lab: Lab, tmp_path: Path) -> None:
    with shared_lab.start(tmp_path / "first", "perfdrv", *FLOW) as first:
        run = has_begun(shared_lab, tmp_path / "first")
        second = shared_lab.run(tmp_path / "second", "perfdrv", *FLOW)
        out, _none = first.communicate(timeout=PATIENCE_S)
    assert second.returncode == 3, second.stdout + second.stderr
    assert f"is in use by run {run} (scale_test) of" in second.stdout
    assert first.returncode == 0, out
    assert "40 completed, 0 failed, 0 lost" in out
    assert holder(shared_lab, tmp_path) is None


@pytest.fixture(name="give_back")
def _foreign_lease(shared_lab: Lab, tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Acquire the lease as a run of another machine; release it when the returned function is called, or at the end."""
    one = Holder("scale_test-of-another", "scale_test", "ada", "bastion", "another", "/nowhere")
    access = Access(kubeconfig=str(shared_lab.kubeconfig))
    cluster = Cluster(access)
    acquire(cluster, one, 0, lambda: None)
    cluster.close()
    keepers = [LeaseKeeper(HeldLease(access, one, str(tmp_path), 1))]

    def give_back() -> None:
        while keepers:
            keepers.pop().end(give_back=True)

    yield give_back
    give_back()


def test_lease_refuses_changes_permits_reads_and_queues_waiters(
    shared_lab: Lab, give_back: Callable[[], None], tmp_path: Path
) -> None:
    changing = ("perfdrv", "toolbox", "scale-test", "cleanup", "-i", "lab")
    refused = shared_lab.run(tmp_path, *changing)
    assert refused.returncode == 3, refused.stdout
    assert "is in use by run scale_test-of-another (scale_test) of ada on bastion" in refused.stdout
    assert shared_lab.run(tmp_path, "perfdrv", "toolbox", "nfd", "has-gpu-nodes", "-i", "lab").returncode == 0
    assert shared_lab.run(tmp_path, *changing, "-e", "clusters_lock=ignore").returncode == 0
    with shared_lab.start(tmp_path / "waits", *changing, "-e", "clusters_lock=wait") as waits:
        deadline = time.monotonic() + PATIENCE_S
        while not list(tmp_path.glob("waits/*/run.json")) and time.monotonic() < deadline:
            time.sleep(0.1)
        give_back()
        out, _none = waits.communicate(timeout=PATIENCE_S)
    assert waits.returncode == 0, out


def renewal_time(lab: Lab) -> str:
    """Return the time of the Lease's last renewal."""
    cluster = Cluster(Access(kubeconfig=str(lab.kubeconfig)))
    found = cluster.get(named(NAME))
    cluster.close()
    return str(found["spec"]["renewTime"]) if found else ""


def keepers(process: int) -> list[int]:
    """Return the IDs of the processes below *process* that keep a lease."""
    found = []
    for pid in descendants(process):
        with suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == PROCESS_NAME:
                found.append(pid)
    return found


@pytest.mark.deep
def test_killed_keeper_is_replaced_during_a_long_task(shared_lab: Lab, tmp_path: Path) -> None:
    with shared_lab.start(tmp_path, "perfdrv", *FLOW) as first:
        has_begun(shared_lab, tmp_path)
        (killed,) = keepers(first.pid)
        os.kill(killed, signal.SIGKILL)
        before, at = renewal_time(shared_lab), time.monotonic()
        wait_until(lambda: renewal_time(shared_lab) != before)
        replaced_s = time.monotonic() - at
        out, _none = first.communicate(timeout=PATIENCE_S)
    assert first.returncode == 0, out
    # the killed process may have renewed it just before its end, but it is dead
    assert replaced_s < 10
    assert holder(shared_lab, tmp_path) is None


@pytest.mark.deep
def test_killed_run_blocks_nothing_where_its_end_is_visible(shared_lab: Lab, tmp_path: Path) -> None:
    with shared_lab.start(tmp_path, "perfdrv", *FLOW) as first:
        run = has_begun(shared_lab, tmp_path)
        first.send_signal(signal.SIGKILL)
    assert holder(shared_lab, tmp_path) == run
    finalized = shared_lab.run(tmp_path, "perfdrv", "runs", "finalize", run)
    assert finalized.returncode == 0, finalized.stdout
    assert (holder(shared_lab, tmp_path), jobs(shared_lab)) == (None, 0)


@pytest.mark.deep
def test_run_that_lost_the_cluster_stops_and_deletes_nothing(shared_lab: Lab, tmp_path: Path) -> None:
    # long enough that it still submits when it notices the loss, even on a slow machine
    with shared_lab.start(tmp_path, "perfdrv", *FLOW, "-s", "scale_test_count=120") as first:
        run = has_begun(shared_lab, tmp_path)
        broken = shared_lab.run(tmp_path, "perfdrv", "lock", "break", "-i", "lab", "--yes")
        out, _none = first.communicate(timeout=PATIENCE_S)
    assert broken.returncode == 0 and f"took the cluster from run {run}" in broken.stdout, broken.stdout + broken.stderr
    assert first.returncode == 3, out
    assert "the lease of the cluster was lost" in out
    assert jobs(shared_lab) > 0
    assert shared_lab.run(tmp_path, "perfdrv", "runs", "finalize", run).returncode == 0
    assert (holder(shared_lab, tmp_path), jobs(shared_lab)) == (None, 0)


def test_only_one_of_many_concurrent_runs_gets_the_lease(shared_lab: Lab, tmp_path: Path) -> None:
    holders = [Holder(f"run-{n}", "test", "nobody", "here", f"machine-{n}", str(tmp_path)) for n in range(8)]
    # sequentially: the kubernetes client cannot read a kubeconfig in several threads
    clusters = [Cluster(Access(kubeconfig=str(shared_lab.kubeconfig))) for _holder in holders]

    def take(number: int) -> bool:
        try:
            acquire(clusters[number], holders[number], 0, lambda: None)
        except LeaseHeldError:
            return False
        return True

    with ThreadPoolExecutor(len(holders)) as pool:
        taken = list(pool.map(take, range(len(holders))))
    won = [holder for holder, mine in zip(holders, taken, strict=True) if mine]
    assert len(won) == 1
    cluster, *others = clusters
    for other in others:
        other.close()
    found = read_lease(cluster)
    assert found and found.holder == won[0]
    release(cluster, next(holder for holder in holders if holder is not won[0]))
    assert read_lease(cluster)
    release(cluster, won[0])
    assert read_lease(cluster) is None
    cluster.close()


@pytest.mark.deep
def test_lease_is_granted_in_queue_order(shared_lab: Lab, tmp_path: Path) -> None:
    names = [f"run-{number}" for number in range(4)]
    holders = {name: Holder(name, "test", "ada", "bastion", name, str(tmp_path)) for name in names}
    clusters = {name: Cluster(Access(kubeconfig=str(shared_lab.kubeconfig))) for name in names}
    order: list[str] = []

    def take_and_release(name: str) -> None:
        acquire(clusters[name], holders[name], PATIENCE_S, lambda: None)
        order.append(name)
        release(clusters[name], holders[name])

    first, *others = names
    acquire(clusters[first], holders[first], 0, lambda: None)
    with ThreadPoolExecutor(len(others)) as pool:
        waits = []
        for count, name in enumerate(others, 1):
            waits.append(pool.submit(take_and_release, name))
            wait_until(partial(waiting, clusters[first], count))
        shown = shared_lab.run(tmp_path, "perfdrv", "lock", "status", "-i", "lab").stdout
        assert f"queue 1: {read_queue(clusters[first])[0]}" in shown
        # places are ordered by creation in seconds, then by ID: within a second any order is valid
        expected = [each.holder.run for each in read_queue(clusters[first])]
        release(clusters[first], holders[first])
        with pytest.raises(LeaseHeldError, match=r"in the queue|is in use by"):
            acquire(clusters[first], holders[first], 0, lambda: None)
        for wait in waits:
            wait.result(timeout=PATIENCE_S)
    assert order == expected
    assert read_queue(clusters[first]) == []
    for cluster in clusters.values():
        cluster.close()


@pytest.mark.deep
def test_killed_run_in_the_queue_is_skipped(shared_lab: Lab, tmp_path: Path) -> None:
    cluster = Cluster(Access(kubeconfig=str(shared_lab.kubeconfig)))
    killed, other = Holder.here("killed", "test", tmp_path / "killed"), Holder.here("other", "test", tmp_path / "other")
    (tmp_path / "killed").mkdir()
    hold(tmp_path / "killed")
    attempt = _Attempt(cluster, killed)
    attempt.queue()
    with pytest.raises(LeaseHeldError, match="is free, but for run killed"):
        acquire(cluster, other, 0, lambda: None)
    release_lock(tmp_path / "killed")
    acquire(cluster, other, 0, lambda: None)
    assert read_queue(cluster) == []
    release(cluster, other)
    cluster.close()


def waiting(cluster: Cluster, count: int) -> bool:
    return len(read_queue(cluster)) == count


@pytest.mark.deep
def test_stop_request_ends_the_wait_for_the_lease(shared_lab: Lab, tmp_path: Path) -> None:
    one, other = (Holder(name, "test", "nobody", "here", name, str(tmp_path)) for name in ("one", "other"))
    cluster = Cluster(Access(kubeconfig=str(shared_lab.kubeconfig)))
    acquire(cluster, one, 0, lambda: None)

    def asked() -> None:
        raise PerfError("asked to stop")

    try:
        with pytest.raises(PerfError, match="asked to stop"):
            acquire(cluster, other, PATIENCE_S, asked)
    finally:
        release(cluster, one)
        cluster.close()


@pytest.mark.deep
def test_waiting_run_survives_an_api_server_restart(shared_lab: Lab, tmp_path: Path) -> None:
    one, other = (Holder(name, "test", "nobody", "here", name, str(tmp_path)) for name in ("one", "other"))
    clusters = [Cluster(Access(kubeconfig=str(shared_lab.kubeconfig))) for _holder in (one, other)]
    acquire(clusters[0], one, 0, lambda: None)
    with ThreadPoolExecutor(1) as pool:
        wait = pool.submit(acquire, clusters[1], other, PATIENCE_S, lambda: None)
        wait_until(partial(waiting, clusters[0], 1))
        perflab("restart", "--name", shared_lab.name, "kube-apiserver", "--after", "5")
        assert not wait.done()
        release(clusters[0], one)
        wait.result(timeout=PATIENCE_S)
    found = read_lease(clusters[0])
    assert found and found.holder == other
    assert read_queue(clusters[0]) == []
    release(clusters[0], other)
    for cluster in clusters:
        cluster.close()
