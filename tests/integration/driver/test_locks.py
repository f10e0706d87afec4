"""Locks of a cluster for an owner and of a host, and mutual exclusion of all holders of a cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.lease import (
    LeaseHeldError,
    acquire,
    read_queue,
    release,
)
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.lock import LockRequest, lock, unlock
from ansible_collections.psap.perf.plugins.module_utils.cluster_lease.objects import (
    LOCK_NAME,
    Holder,
    named,
    read_lease,
    read_lock,
)
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.file_lock import FileLock
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.state import Requester
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.integration.conftest import PROJECT, Lab, perflab
from tests.polling import PATIENCE_S, wait_until

from .small_disk import fill, small_disk

CHANGING = ("perfdrv", "toolbox", "scale-test", "cleanup", "-i", "lab")
LOCK = ("perfdrv", "toolbox", "cluster", "lock", "-i", "lab", "--duration", "1h")
RELEASE = ("perfdrv", "toolbox", "cluster", "release-lock", "-i", "lab")


@pytest.fixture(name="cluster")
def _cluster(shared_lab: Lab) -> Iterator[Cluster]:
    cluster = Cluster(Access(kubeconfig=str(shared_lab.kubeconfig)))
    yield cluster
    cluster.delete(named(LOCK_NAME))
    cluster.close()


def run(name: str) -> Holder:
    return Holder(name, "test", "ada", "bastion", name, "/nowhere")


def take_lock(cluster: Cluster, owner: str, duration_s: int = 600, wait_s: float = 0.0) -> None:
    lock(
        cluster,
        LockRequest(run(f"lock-of-{owner}"), owner, "night", duration_s),
        wait_s,
        lambda: None,
        lambda _state: None,
    )


def test_locked_cluster_accepts_only_runs_of_its_owner(shared_lab: Lab, cluster: Cluster, tmp_path: Path) -> None:
    locked = shared_lab.run(tmp_path, *LOCK, "--owner", "ada", "--reason", "night")
    assert locked.returncode == 0, locked.stdout
    refused = shared_lab.run(tmp_path, *CHANGING)
    assert refused.returncode == 3, refused.stdout
    assert "is locked for ada (night), by" in refused.stdout
    assert "(clusters_lock_owner: ada)" in refused.stdout
    allowed = shared_lab.run(tmp_path, *CHANGING, "-e", "clusters_lock_owner=ada")
    assert allowed.returncode == 0, allowed.stdout
    document = json.loads(shared_lab.run(tmp_path, "perfdrv", "lock", "status", "-i", "lab", "--json").stdout)
    assert (document["held"], document["lock"]["owner"], document["lock"]["expired"]) == (False, "ada", False)
    assert shared_lab.run(tmp_path, *RELEASE, "--owner", "ada").returncode == 0
    assert read_lock(cluster) is None


@pytest.mark.deep
def test_break_ends_the_run_the_lock_or_both(shared_lab: Lab, cluster: Cluster, tmp_path: Path) -> None:
    take_lock(cluster, "ada")
    acquire(cluster, run("one"), 0, lambda: None, owner="ada")
    broken = ("perfdrv", "lock", "break", "-i", "lab", "--yes")
    output = shared_lab.run(tmp_path, *broken, "--only", "run").stdout
    assert "took the cluster from run one" in output
    assert read_lease(cluster) is None and read_lock(cluster)
    acquire(cluster, run("two"), 0, lambda: None, owner="ada")
    output = shared_lab.run(tmp_path, *broken).stdout
    assert "took the cluster from run two" in output and "took the cluster from ada (night)" in output
    assert read_lease(cluster) is None and read_lock(cluster) is None


@pytest.mark.deep
def test_lock_and_runs_wait_in_queue_order(cluster: Cluster) -> None:
    acquire(cluster, run("one"), 0, lambda: None)
    with pytest.raises(LeaseHeldError, match="is in use by run one"):
        take_lock(cluster, "ada")
    release(cluster, run("one"))
    take_lock(cluster, "ada")
    assert read_lease(cluster) is None, "who locks has the Lease for that moment only"
    reports: list[str] = []

    def stop_on_signal() -> None:
        if reports:
            raise PerfError("asked to stop")

    with pytest.raises(PerfError, match="asked to stop"):
        acquire(cluster, run("two"), PATIENCE_S, stop_on_signal, reports.append)
    assert reports[0].endswith(f"is locked for {read_lock(cluster)}")
    assert read_queue(cluster) == []
    acquire(cluster, run("three"), 0, lambda: None, owner="ada")
    # its lock lasts longer, while its own run has the cluster
    take_lock(cluster, "ada", 1200)
    found = read_lock(cluster)
    assert found and found.duration_s == 1200
    release(cluster, run("three"))
    with pytest.raises(LeaseHeldError, match=r"is locked for ada \(night\)"):
        unlock(cluster, "bob")
    assert unlock(cluster, "ada") and not unlock(cluster, "ada")


@pytest.mark.deep
def test_expired_lock_is_ignored(cluster: Cluster) -> None:
    take_lock(cluster, "ada", 2)
    wait_until(lambda: read_lock(cluster) is None)
    assert not unlock(cluster, "bob")
    acquire(cluster, run("one"), 0, lambda: None)
    with pytest.raises(LeaseHeldError, match="is in use by run one"):
        # a run may have begun by then, so the lock is not extended
        take_lock(cluster, "ada")
    release(cluster, run("one"))
    take_lock(cluster, "bob")
    assert unlock(cluster, "bob")


@pytest.mark.deep
def test_host_lock_in_a_folder_passes_to_the_next_waiter(shared_lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "lock"
    inventory = tmp_path / "site"
    inventory.mkdir()
    hosts = {"sutest": {}, "bastion": {"ansible_python_interpreter": sys.executable}}
    document = {"all": {"vars": {"ansible_connection": "local"}, "hosts": hosts}}
    (inventory / "hosts.yml").write_text(json.dumps(document))
    of_host = ("-i", str(inventory), "--host", "bastion", "--folder", str(folder))
    words = ("perfdrv", "toolbox", "cluster", "lock", *of_host, "--duration", "1h")
    locked = shared_lab.run(tmp_path, *words, "--owner", "ada", "--reason", "night")
    assert locked.returncode == 0, locked.stdout
    refused = shared_lab.run(tmp_path, *words, "--owner", "bob")
    assert refused.returncode == 3 and "is locked for ada (night), by" in refused.stdout, refused.stdout
    with shared_lab.start(tmp_path / "waits", *words, "--owner", "bob", "--timeout", "5m") as waits:
        wait_until(lambda: len(FileLock(folder).read().waiting) == 1)
        status = shared_lab.run(tmp_path, "perfdrv", "lock", "status", *of_host).stdout
        assert "locked for ada (night)" in status and "queue 1: bob, by" in status
        broken = shared_lab.run(tmp_path, "perfdrv", "lock", "break", *of_host, "--yes")
        assert "took the host from ada (night)" in broken.stdout
        out, _none = waits.communicate(timeout=PATIENCE_S)
    assert waits.returncode == 0, out
    holder = FileLock(folder).read().holder
    assert holder and holder.who.owner == "bob"
    releasing = ("perfdrv", "toolbox", "cluster", "release-lock", *of_host, "--owner", "bob")
    assert shared_lab.run(tmp_path, *releasing).returncode == 0
    assert FileLock(folder).read().holder is None


@pytest.mark.deep
def test_full_disk_refuses_a_lock_but_permits_release(tmp_path: Path) -> None:
    file_lock, ada, bob = FileLock(tmp_path / "lock"), *(Requester(name, name, "", "", "") for name in ("ada", "bob"))
    with small_disk(tmp_path, "128k"):
        file_lock.take(ada, 600)
        file_lock.take(bob, 600, stays=True)
        fill(tmp_path)
        with pytest.raises(PerfError, match="No space left on device; free space there"):
            file_lock.renew("ada")
        assert file_lock.release("ada")
        assert not list((tmp_path / "lock").glob("*.new"))
        (tmp_path / "ballast").unlink()
        assert file_lock.take(bob, 600)[1]


def overlapping(lines: list[str]) -> list[str]:
    """Return overlapping times of two holders; of several lines with one start the last counts."""
    ends = {(float(begun), name): float(end) for name, begun, end in (line.split() for line in lines)}
    latest: dict[str, float] = {}
    wrong = []
    for (begun, name), end in sorted(ends.items()):
        others = ((other, until) for other, until in latest.items() if other != name and begun < until)
        wrong += [f"{name} from {begun} on, {other} until {until}" for other, until in others]
        latest[name] = max(latest.get(name, 0.0), end)
    return wrong


@pytest.mark.deep
def test_cluster_has_one_holder_despite_kills_and_clock_changes(
    shared_lab: Lab, cluster: Cluster, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.touch()

    def start(name: str, behind_s: float) -> subprocess.Popen[bytes]:
        words = [str(shared_lab.kubeconfig), str(notes), name, str(behind_s)]
        program = [sys.executable, "-m", "tests.integration.driver.holding", *words]
        return subprocess.Popen(program, cwd=PROJECT, env={**os.environ, "PYTHONPATH": str(PROJECT / "collections")})

    def noted() -> list[str]:
        return notes.read_text().splitlines()

    clocks = (-3600.0, 0.0, 3600.0)
    living = {f"first-{number}": start(f"first-{number}", behind_s) for number, behind_s in enumerate(clocks)}
    try:
        for fault in range(9):
            before = len(noted())
            wait_until(lambda before=before: len(noted()) > before + 12)  # type: ignore[misc]
            if fault % 3 == 2:
                perflab("restart", "--name", shared_lab.name, "kube-apiserver", "--after", "2")
                continue
            name = noted()[-1].split()[0]
            living[name].kill()
            living.pop(name).wait()
            living[f"next-{fault}"] = start(f"next-{fault}", clocks[fault % 3])
    finally:
        for process in living.values():
            process.kill()
            process.wait()
        for lease in (read_lease(cluster), *read_queue(cluster)):
            if lease:
                cluster.delete(named(lease.name))
    assert overlapping(noted()) == []


@pytest.mark.deep
def test_two_drivers_proceed_in_turn_after_the_third_is_killed(shared_lab: Lab, tmp_path: Path) -> None:
    words = ("perfdrv", "run", "skeleton", "-i", "lab", "-p", "skeleton", "-e", "clusters_lock=wait")
    drivers = [shared_lab.start(tmp_path / str(number), *words) for number in range(3)]
    commands = "*/*/*__skeleton__*/status.json", "*/*/*/*__skeleton__*/status.json"

    def begun() -> list[Path]:
        return [path for pattern in commands for path in tmp_path.glob(pattern)]

    wait_until(lambda: bool(begun()))
    killed = int(begun()[0].relative_to(tmp_path).parts[0])
    drivers[killed].send_signal(signal.SIGKILL)
    perflab("restart", "--name", shared_lab.name, "kube-apiserver", "--after", "3")
    outs = [driver.communicate(timeout=PATIENCE_S)[0] for driver in drivers]
    codes = [driver.returncode for driver in drivers]
    assert codes == [-signal.SIGKILL if number == killed else 0 for number in range(3)], outs
    spans = []
    for number in {0, 1, 2} - {killed}:
        documents = [json.loads(path.read_text()) for path in (tmp_path / str(number)).rglob("status.json")]
        spans.append(
            (
                min(parse_utc(document["started"]) for document in documents),
                max(parse_utc(document["ended"]) for document in documents),
            )
        )
    assert all(former[1] <= latter[0] for former, latter in pairwise(sorted(spans))), spans
    (run_of_killed,) = (tmp_path / str(killed)).iterdir()
    finalized = shared_lab.run(tmp_path / str(killed), "perfdrv", "runs", "finalize", run_of_killed.name)
    assert finalized.returncode == 0, finalized.stdout
