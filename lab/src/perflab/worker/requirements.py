"""What a real node needs of this machine, looked for before anything is built or started."""

from __future__ import annotations

import os
import shutil
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


def check(*folders: Path) -> None:
    """Raise ClusterError with what to do if no real node can run here with its files in *folders*."""
    if os.geteuid() != 0:
        raise ClusterError("a real node (--with worker) needs root: run perflab as root")
    missing = missing_programs()
    if missing:
        raise ClusterError(missing)
    for each in folders:
        if any(each.is_relative_to(hidden) for hidden in HIDDEN):
            raise ClusterError(
                f"a real node cannot have its files in {each}: it has {', '.join(HIDDEN)} for itself. Set PERFLAB_HOME "
                "and XDG_CACHE_HOME to other folders."
            )
