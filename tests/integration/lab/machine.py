"""What a real node could leave on this machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from perflab.worker import requirements

# settings of the whole machine that a kubelet changes
_SETTINGS = ("vm/overcommit_memory", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys")


def present(home: Path) -> dict[str, set[str]]:
    """Return kind → everything of that kind that is present; *home* is the labs' home."""
    return {
        "mounts": {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()},
        "links": set(_lines("ip", "-oneline", "-brief", "link")),
        "addresses": set(_lines("ip", "-oneline", "-brief", "address")),
        "routes": set(_lines("ip", "route")),
        "network namespaces": set(_lines("ip", "netns")),
        "rules": set(_lines("nft", "list", "tables")),
        "control groups": {str(each) for each in _folders(Path("/sys/fs/cgroup")) if "perflab" in str(each)},
        "settings": {f"{name} = {Path('/proc/sys', name).read_text().strip()}" for name in _SETTINGS},
        "processes": set(_processes(home)),
        "files": {each.name for each in home.iterdir() if each.is_dir()},
    }


def program(pid: int) -> str:
    """Return the path of a process's program; "" if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _lines(*command: str) -> list[str]:
    path = {**os.environ, "PATH": requirements.path()}
    return subprocess.run(command, env=path, capture_output=True, text=True, check=True).stdout.splitlines()


def _folders(root: Path) -> list[Path]:
    return [Path(folder) for folder, _folders, _files in os.walk(root)]


def _processes(home: Path) -> list[str]:
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            command = (each / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            # programs of pods have another environment, but the node's network
            group = (each / "cgroup").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(home) in command or "perflab-" in group:
            found.append(command)
    return found
