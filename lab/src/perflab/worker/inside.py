"""The first process of a real node, inside its namespaces: mounts, network, and programs that it starts again.

`python -m perflab.worker.inside PROGRAMS ARCHIVE…`: when it ends, the kernel ends everything of the node.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from perflab.cluster import real_node
from perflab.errors import ClusterError
from perflab.processes.program import Program
from perflab.profiles import WORKER
from perflab.worker import cgroups, node, requirements
from perflab.worker.configuration import Node, this_node

CABLE = "eth0"
_OTHER_END = "host0"
_USUAL_UMASK = 0o022
_PAUSE_S = 0.5
_POLL_S = 0.05
_TIMEOUT_S = 60.0
# settings of the whole machine: the kubelet gets private files that already have the values it would set
_KUBELET_SETTINGS = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}
_SETTINGS = {"net/ipv4/ip_forward": "1", "net/ipv4/conf/all/route_localnet": "1"}


def main() -> None:
    """Set the node up, start its programs, and keep them running."""
    programs, *archives = map(Path, sys.argv[1:])
    its = this_node(programs)
    os.environ["PATH"] = os.pathsep.join([str(programs), requirements.path()])
    # not those of the lab's other programs: users' programs run as on any other machine
    os.umask(_USUAL_UMASK)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    _set_up(its)
    running = dict(_start(its, program) for program in its.early())
    _wait_for(lambda: _answers(Path(node.CONTAINERD_SOCKET)))
    for archive in archives:
        _run(*its.importing(archive))
    running |= dict([_start(its, its.kubelet())])
    _keep(its, running)


def _set_up(its: Node) -> None:
    for folder in requirements.HIDDEN:
        _run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", folder)
    for source, target in (("kubelet", "/var/lib/kubelet"), ("pod-logs", "/var/log/pods")):
        Path(target).mkdir()
        _run("mount", "--bind", str(its.folder / source), target)
    Path("/var/log/containers").mkdir()
    for number, (name, value) in enumerate(_KUBELET_SETTINGS.items()):
        own = Path("/run", f"setting-{number}")
        own.write_text(value)
        _run("mount", "--bind", str(own), f"/proc/sys/{name}")
    if its.lab.rootless:
        for folder in cgroups.unreadable():
            _run("mount", "-t", "tmpfs", "tmpfs", folder)
    # volumes that are mounted later appear in containers
    _run("mount", "--make-rshared", "/")
    socket.sethostname(real_node.NAME)
    _run("ip", "link", "set", "lo", "up")
    if its.lab.rootless:
        _add_both_ends(its)
    _wait_for(lambda: Path("/proc/net/dev").read_text().find(f"{CABLE}:") >= 0)
    _run("ip", "address", "add", f"{its.network.node}/{its.network.cable.prefixlen}", "dev", CABLE)
    _run("ip", "link", "set", CABLE, "up")
    # nothing answers at the other end, but kube-proxy translates addresses of Services only if they have a route
    _run("ip", "route", "add", "default", *(("dev", CABLE) if its.lab.rootless else ("via", its.network.host)))
    for name, value in _SETTINGS.items():
        Path("/proc/sys", name).write_text(value)


def _add_both_ends(its: Node) -> None:
    """Create the cable with its other end, which no other network has without root, in the node itself."""
    _run("ip", "link", "add", CABLE, "type", "veth", "peer", "name", _OTHER_END)
    _run("ip", "address", "add", f"{its.network.host}/{its.network.cable.prefixlen}", "dev", _OTHER_END)
    _run("ip", "link", "set", _OTHER_END, "up")


def _start(its: Node, program: Program) -> tuple[int, Program]:
    with its.lab.log(f"{WORKER}-{program.name}").open("ab") as log:
        process = subprocess.Popen(  # noqa: S603
            [str(part) for part in program.command], stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    # the caller waits for any process, about which Popen would warn
    process.returncode = 0
    return process.pid, program


def _keep(its: Node, running: dict[int, Program]) -> None:
    """Start each program again that ends; also reap processes whose parent has ended."""
    while True:
        pid, _status = os.wait()
        ended = running.pop(pid, None)
        if ended:
            sys.stdout.write(f"{ended.name} ended; starting it again\n")
            sys.stdout.flush()
            time.sleep(_PAUSE_S)
            running |= dict([_start(its, ended)])


def _answers(address: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(address)) == 0


def _wait_for(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while not check():
        if time.monotonic() > deadline:
            raise ClusterError(f"{CABLE} or containerd did not appear within {_TIMEOUT_S:.0f} s")
        time.sleep(_POLL_S)


def _run(*command: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False)  # noqa: S603
    if done.returncode != 0:
        raise ClusterError(f"`{' '.join(command)}` failed with code {done.returncode}")


if __name__ == "__main__":
    main()
