"""What a real node needs of this machine, looked for before anything is built or started."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from perflab.errors import ClusterError

# program → Debian's package
_PROGRAMS = {
    "nft": "nftables",
    "ip": "iproute2",
    "mount": "mount",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "ldd": "libc-bin",
}
# administrators' programs are not on each user's PATH
_MORE_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
# settings by which systems disable namespaces of users, the value that disables them, and one that enables them
_SWITCHES = (
    ("user.max_user_namespaces", "0", "10000"),
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
)
# the node has these for itself
HIDDEN = ("/run", "/var/lib", "/var/log")


def path() -> str:
    """Return the PATH of the node's programs."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *_MORE_FOLDERS])


def find(program: str) -> str | None:
    """Return the path of a program of this machine; None if it is missing."""
    return shutil.which(program, path=path())


def missing_programs(find: Callable[[str], str | None] = find) -> str:
    """Return a sentence with what to install for a real node; "" if nothing is missing."""
    missing = [program for program in _PROGRAMS if not find(program)]
    packages = " ".join(dict.fromkeys(_PROGRAMS[program] for program in missing))
    return f"a real node needs {', '.join(missing)}: apt install {packages}" if missing else ""


def is_rootless() -> bool:
    """Return whether a node that this process starts is one without root."""
    return os.geteuid() != 0


def namespaces(*, rootless: bool) -> list[str]:
    """Return the command that starts the program after it in the namespaces of a node."""
    user = ("--user", "--map-root-user") if rootless else ()
    others = ("--pid", "--fork", "--kill-child", "--mount-proc", "--mount", "--net", "--uts", "--ipc")
    return ["unshare", *user, *others]


def check(*folders: Path) -> None:
    """Raise ClusterError with what to do if no real node can run here with its files in *folders*."""
    missing = missing_programs()
    if missing:
        raise ClusterError(missing)
    if is_rootless():
        _check_namespaces()
    for each in folders:
        if any(each.is_relative_to(hidden) for hidden in HIDDEN):
            raise ClusterError(
                f"a real node cannot have its files in {each}: it has {', '.join(HIDDEN)} for itself. Set PERFLAB_HOME "
                "and XDG_CACHE_HOME to other folders."
            )


def _check_namespaces() -> None:
    command = [*namespaces(rootless=True), "--", "true"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode == 0:
        return
    changes = " and ".join(f"{name}={enabling}" for name, off, enabling in _SWITCHES if _setting(name) == off)
    advice = f"set {changes} (sysctl) or " if changes else ""
    raise ClusterError(
        "a real node without root (--with worker) needs user namespaces, but `unshare` failed: "
        f"{done.stderr.strip()}; {advice}run perflab as root"
    )


def _setting(name: str) -> str | None:
    path = Path("/proc/sys", *name.split("."))
    return path.read_text().strip() if path.exists() else None
