"""The end of a real node, with root and without, whatever is killed before: `perflab down` leaves nothing of it.

python -m pytest -m deep tests/integration/lab/test_worker_kills.py [-k rootless]
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from perflab.cluster import real_node
from perflab.processes import process
from perflab.processes.state import Lab
from perflab.worker.images import PAUSE

from . import machine
from .labs import Cluster, Labs, wait_for
from .ordinary_user import labs_of_ordinary_user

ROOT, ROOTLESS = "root", "rootless"
NAME = "kills"
PODS = 3
# of `perflab down` on a machine that has nothing else to do
DOWN_S = 3.0
# what is killed → the end of the command lines of the processes, of which each is killed
VICTIMS = {
    "kubelet": "/kubelet",
    "containerd": "/containerd",
    "shims": "/containerd-shim-runc-v2",
    "kube-proxy": "/kube-proxy",
    "coredns": "/coredns",
    "tunnel": "perflab.worker.tunnel",
    "first-process": "perflab.worker.inside",
    "unshare": "unshare",
    "worker": "perflab.worker",
    "api-server": "/kube-apiserver",
}
ONLY_ROOTLESS = ("tunnel",)
# programs of the lab itself, which nothing starts again
OF_THE_LAB = ("first-process", "unshare", "worker", "api-server")
CASES = [
    pytest.param(mode, victim, id=f"{mode}-{victim}")
    for mode in (ROOT, ROOTLESS)
    for victim in VICTIMS
    if mode == ROOTLESS or victim not in ONLY_ROOTLESS
]
pytestmark = pytest.mark.deep
modes = pytest.mark.parametrize("user", [ROOT, ROOTLESS], indirect=True)


@pytest.fixture(scope="module")
def user(request: pytest.FixtureRequest) -> Iterator[Labs]:
    if request.param == ROOT:
        yield request.getfixturevalue("labs")
        return
    with labs_of_ordinary_user() as labs:
        yield labs


@dataclass(frozen=True)
class Before:
    """The settings of this machine before a lab, and the lab's networks."""

    settings: dict[str, set[str]]
    spaces: set[str]


def start(labs: Labs) -> tuple[Lab, Before]:
    settings = machine.settings()
    lab = labs.up(NAME, "--nodes", "0", "--with", "worker")
    core = Cluster.of(lab).core
    for number in range(PODS):
        spec: dict[str, Any] = {
            "nodeSelector": {real_node.REAL: "true"},
            "tolerations": [{"key": real_node.REAL, "operator": "Exists"}],
            "containers": [{"name": "main", "image": PAUSE}],
        }
        core.create_namespaced_pod("default", {"metadata": {"name": f"pod-{number}"}, "spec": spec})
    wait_for("the pods run", lambda: all_run(core.list_namespaced_pod("default").items))
    return lab, Before(settings, machine.spaces(lab))


def all_run(pods: list[Any]) -> bool:
    return all(each.status.phase == "Running" for each in pods)


def victims(lab: Lab, suffix: str) -> set[int]:
    return {each.pid for each in process.find_marked(lab.folder) if is_of(each.pid, suffix)}


def is_of(pid: int, suffix: str) -> bool:
    words = machine.words(pid)
    program = words[2] if words[1:2] == ["-m"] else next(iter(words), "")
    return program.endswith(suffix) if suffix.startswith("/") else program.rpartition("/")[2] == suffix


def is_started_again(lab: Lab, suffix: str, killed: set[int]) -> bool:
    return bool(victims(lab, suffix) - killed)


def down(labs: Labs) -> None:
    started = time.monotonic()
    done = labs.run("down", "--name", NAME)
    assert done.returncode == 0, done.stderr
    taken = time.monotonic() - started
    waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(f"perflab down: {taken:.1f} s, {waiting:.0f} processes wait for each CPU")
    assert taken < DOWN_S * max(1.0, waiting)


def assert_nothing_is_left(lab: Lab, before: Before) -> None:
    found = machine.traces(lab, before.spaces)
    for kind in found:
        wait_for(f"no {kind} are left", partial(is_gone, lab, before, kind))
    assert machine.settings() == before.settings


def is_gone(lab: Lab, before: Before, kind: str) -> bool:
    return not machine.traces(lab, before.spaces)[kind]


@pytest.mark.parametrize(("user", "victim"), CASES, indirect=["user"])
def test_down_after_a_kill_leaves_nothing(user: Labs, victim: str) -> None:
    lab, before = start(user)
    killed = victims(lab, VICTIMS[victim])
    assert len(killed) == (PODS if victim == "shims" else 1)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    if victim not in OF_THE_LAB and victim != "shims":
        wait_for(f"another {victim} runs", partial(is_started_again, lab, VICTIMS[victim], killed))
    before.spaces.update(machine.spaces(lab))
    down(user)
    assert_nothing_is_left(lab, before)


@modes
def test_killed_down_is_finished_by_the_next(user: Labs) -> None:
    lab, before = start(user)
    kill_in_the_middle(user, "down", lambda: not victims(lab, "/kubelet"))
    down(user)
    assert_nothing_is_left(lab, before)


@modes
def test_killed_up_leaves_nothing_after_down(user: Labs) -> None:
    settings = machine.settings()
    folder = user.home / NAME

    def is_starting() -> bool:
        return any(is_of(each.pid, "/containerd") for each in process.find_marked(folder))

    kill_in_the_middle(user, "up", is_starting, "--nodes", "0", "--with", "worker")
    lab = user.get(NAME)
    before = Before(settings, machine.spaces(lab))
    down(user)
    assert_nothing_is_left(lab, before)


def kill_in_the_middle(labs: Labs, command: str, is_middle: Callable[[], bool], *options: str) -> None:
    with labs.start(command, "--name", NAME, *options) as running:
        wait_for(f"the middle of {command}", lambda: is_middle() or running.poll() is not None)
        running.kill()
