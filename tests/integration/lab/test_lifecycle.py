"""A lab starts completely or not at all; labs run side by side, and a removed lab leaves nothing."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest
from perflab.building.components import PROGRAMS
from perflab.building.sets import Binaries
from perflab.control_plane import lifecycle
from perflab.errors import ClusterError
from perflab.processes import ports, process, state
from perflab.processes.state import Lab, Options

from .labs import Cluster, Labs, wait_for

FEW = ("--nodes", "2")


def test_second_up_changes_nothing(labs: Labs, lab: Lab) -> None:
    again = labs.run("up", "--name", "shared")
    assert again.returncode == 0
    assert "is already running" in again.stdout
    assert labs.get("shared").pids == lab.pids


def test_up_with_other_options_is_refused(labs: Labs, lab: Lab) -> None:
    other = labs.run("up", "--name", lab.name, "--gpus", "4")
    assert other.returncode == 2
    assert "is running with gpus_per_node = 8, not 4" in other.stderr


def test_every_program_listens_on_loopback_only(lab: Lab) -> None:
    addresses = [each for item in lab.pids.values() for each in ports.listening_addresses(item.pid)]
    # besides its configured ports, an emulator's server uses a random port and publishes it
    assert {f"127.0.0.1:{port}" for port in lab.ports.values()} <= set(addresses)
    assert all(address.startswith("127.0.0.1:") for address in addresses)


def test_files_are_private(lab: Lab) -> None:
    for path in [lab.folder, lab.folder.parent, *lab.folder.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_every_process_is_recorded(labs: Labs, lab: Lab) -> None:
    assert set(labs.left_over(lab.name)) == set(lab.pids.values())


def test_status_kubeconfig_and_logs_describe_the_lab(labs: Labs, lab: Lab) -> None:
    assert "shared: running, 4 nodes of 8 GPUs" in labs.run("status").stdout
    assert labs.run("kubeconfig", "--name", "shared").stdout == f"{lab.kubeconfig}\n"
    assert set(labs.run("logs", "--name", "shared").stdout.split()) == set(lab.pids)
    assert "Serving securely" in labs.run("logs", "--name", "shared", "kube-apiserver", "--lines", "9999").stdout


@pytest.mark.deep
def test_two_labs_run_side_by_side(labs: Labs, lab: Lab, cluster: Cluster) -> None:
    other = labs.up("other", *FEW, "--gpus", "2")
    assert not set(other.ports.values()) & set(lab.ports.values())
    node = Cluster.of(other).core.read_node("node-0001")
    assert node.status.allocatable["nvidia.com/gpu"] == "2"
    assert len(cluster.core.list_node().items) == 4
    assert labs.run("down", "--name", "other").returncode == 0
    assert not (labs.home / "other").exists()
    assert labs.left_over("other") == []
    assert labs.get("shared").dead_components() == []


def test_crashed_lab_is_detected_and_restarted(labs: Labs) -> None:
    first = labs.up("crashed", *FEW)
    victim = first.pids["kube-scheduler"]
    os.kill(victim.pid, signal.SIGKILL)
    wait_for("the program has ended", lambda: not victim.is_alive())
    assert "crashed: crashed, kube-scheduler died" in labs.run("status", "--name", "crashed").stdout
    assert labs.run("kubeconfig", "--name", "crashed").returncode == 3
    second = labs.up("crashed", *FEW)
    assert not set(first.pids.values()) & set(second.pids.values())
    assert set(labs.left_over("crashed")) == set(second.pids.values())
    assert labs.run("down", "--name", "crashed").returncode == 0


@pytest.mark.deep
@pytest.mark.parametrize("then", ["up", pytest.param("down")])
def test_lab_killed_while_starting_is_cleaned_up(labs: Labs, then: str) -> None:
    name = f"killed-{then}"
    starting = labs.start("up", "--name", name, *FEW)
    wait_for("the API server started", lambda: len(labs.left_over(name)) >= 2)
    starting.kill()
    starting.wait()
    orphans = labs.left_over(name)
    assert orphans
    assert f"{name}: interrupted" in labs.run("status", "--name", name).stdout
    assert labs.run(then, "--name", name).returncode == 0
    assert not [orphan for orphan in orphans if orphan.is_alive()]
    assert labs.run("down", "--name", name).returncode == 0
    assert labs.left_over(name) == []


def test_unrecorded_process_is_ended(labs: Labs, tmp_path: Path) -> None:
    folder = labs.home / "unrecorded"
    folder.mkdir()
    stray = process.start(("sleep", "600"), folder, tmp_path / "log", {})
    assert labs.run("down", "--name", "unrecorded").returncode == 0
    assert not stray.is_alive()
    assert not folder.exists()


@pytest.mark.deep
def test_concurrent_ups_start_one_lab(labs: Labs) -> None:
    both = [labs.start("up", "--name", "twice", *FEW) for _ in range(2)]
    assert [each.wait() for each in both] == [0, 0]
    assert set(labs.left_over("twice")) == set(labs.get("twice").pids.values())
    assert labs.run("down", "--name", "twice").returncode == 0


@pytest.mark.parametrize(
    "component", ["kube-apiserver", *(pytest.param(name, marks=pytest.mark.deep) for name in ("kwok", "kubelet"))]
)
def test_port_in_use_is_replaced(
    labs: Labs, binaries: Binaries, component: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    chosen = iter([True])
    free_ports = ports.free_ports
    with socket.socket() as taken:
        taken.bind((ports.LOOPBACK, 0))
        taken.listen()

        def race(names: tuple[str, ...]) -> dict[str, int]:
            found = free_ports(names)
            return {**found, component: taken.getsockname()[1]} if next(chosen, False) else found

        monkeypatch.setattr(lifecycle, "free_ports", race)
        lab = lifecycle.up(labs.home, "race", Options(nodes=1), binaries, lines.append)
    assert lab.state == "running"
    assert any(component in line and "another process uses its port" in line for line in lines)
    assert set(labs.left_over("race")) == set(lab.pids.values())
    assert lifecycle.down(labs.home, "race")


def test_full_disk_is_refused_before_the_start(labs: Labs, binaries: Binaries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "NEEDED_BYTES", 10**18)
    with pytest.raises(ClusterError, match=r"not enough disk space for a lab.*PERFLAB_HOME"):
        lifecycle.up(labs.home, "full", Options(nodes=1), binaries, print)
    assert labs.left_over("full") == []
    assert not (labs.home / "full").exists()


def test_failing_program_is_named_and_nothing_stays(labs: Labs, binaries: Binaries, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for program in PROGRAMS:
        (tmp_path / "bin" / program).symlink_to(binaries.program(program))
    broken = tmp_path / "bin" / "kube-scheduler"
    broken.unlink()
    broken.write_text("#!/bin/sh\necho cannot schedule anything\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(ClusterError, match=r"kube-scheduler ended(?s:.)*cannot schedule anything"):
        lifecycle.up(labs.home, "broken", Options(nodes=1), Binaries(tmp_path), print)
    assert labs.left_over("broken") == []
    failed = state.read_lab(labs.home, "broken")
    assert failed is not None
    assert failed.state == "failed"
    assert "cannot schedule" in labs.run("logs", "--name", "broken", "kube-scheduler").stdout
    assert labs.run("down", "--name", "broken").returncode == 0
