"""What a real node could leave on this machine, on which other labs may run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from perflab.processes import process
from perflab.processes.state import Lab
from perflab.profiles import WORKER
from perflab.worker import node, requirements

# settings of the whole machine that a kubelet changes
_SETTINGS = ("vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys")


def settings() -> dict[str, set[str]]:
    """Return what no lab changes outside of its namespaces, by kind."""
    return {
        "network namespaces": set(_lines("ip", "netns")),
        "rules": set(_lines("nft", "list", "tables")) if os.geteuid() == 0 else set(),
        "settings": {f"{name} = {Path('/proc/sys', name).read_text().strip()}" for name in _SETTINGS},
    }


def spaces(lab: Lab) -> set[str]:
    """Return the networks that the lab's node and its pods have."""
    parents = {int(each.name): _parent(each) for each in Path("/proc").glob("[0-9]*")}
    found = {identity.pid for identity in process.find_marked(lab.folder)}
    # programs of pods have an environment of their own
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {_network(pid) for pid in found} - {_network(os.getpid()), ""}


def traces(lab: Lab, spaces: set[str]) -> dict[str, set[str]]:
    """Return kind → everything of that kind that is present of the lab's node, whose networks were *spaces*."""
    folder, group, end = str(lab.folder), node.cgroup(lab), f"plw{lab.ports[WORKER]}"
    names = (lab.name, f".deleted-{lab.name}-")
    return {
        "mounts": {line for line in Path("/proc/self/mountinfo").read_text().splitlines() if folder in line},
        "links": {line for line in _lines("ip", "-oneline", "link") if end in line},
        "addresses": {line for line in _lines("ip", "-oneline", "address") if end in line},
        "routes": {line for line in _lines("ip", "route") if end in line},
        "control groups": {str(each) for each in _folders(Path("/sys/fs/cgroup")) if group in str(each)},
        "processes": set(_processes(folder, group, spaces)),
        "files": {each.name for each in lab.folder.parent.iterdir() if each.name.startswith(names)},
    }


def program(pid: int) -> str:
    """Return the path of a process's program; "" if it has ended."""
    return next(iter(words(pid)), "")


def words(pid: int) -> list[str]:
    """Return the command line of a process; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []


def _lines(*command: str) -> list[str]:
    path = {**os.environ, "PATH": requirements.path()}
    return subprocess.run(command, env=path, capture_output=True, text=True, check=True).stdout.splitlines()


def _folders(root: Path) -> list[Path]:
    return [Path(folder) for folder, _folders, _files in os.walk(root)]


def _network(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return ""


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _processes(folder: str, group: str, spaces: set[str]) -> list[str]:
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            command = (each / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            # programs of pods have another environment, but the node's control group or networks
            groups = (each / "cgroup").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if folder in command or group in groups or _network(int(each.name)) in spaces:
            found.append(command)
    return found
