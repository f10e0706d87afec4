"""Run `perflab` as an ordinary user, who can read the programs that root has built."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perflab.files import places

from tests.polling import PATIENCE_S

from .labs import Labs, wait_for

# no user of this machine
_ID = 65000
# root's own folders are closed to others: a copy of them, in which only changes need room, is open
_VIEW = """
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work"
mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" overlay "$2"
chmod 755 "$2"
find "$3" ! -perm -004 -exec chmod o+rX {} +
echo ready
exec sleep infinity
"""


@contextmanager
def labs_of_ordinary_user() -> Iterator[Labs]:
    """Yield the labs of a user without rights; delete them, their home and the user's view of the files at the end."""
    folder = Path(tempfile.mkdtemp(prefix="perflab-user-"))
    if os.geteuid() != 0:
        labs = Labs(folder)
        try:
            yield labs
        finally:
            _delete(labs, folder)
        return
    home, view = folder / "home", folder / "view"
    for each in (home, view):
        each.mkdir(mode=0o755)
    folder.chmod(0o755)
    os.chown(home, _ID, _ID)
    cache = places.cache_root()
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _VIEW, "view"]
    with subprocess.Popen([*command, str(view), str(Path.home()), str(cache)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        try:
            assert holder.stdout.readline() == b"ready\n"
            inside = ["nsenter", "--mount", "--target", str(holder.pid), f"--wd={Path.cwd()}", "--"]
            user = ["setpriv", f"--reuid={_ID}", f"--regid={_ID}", "--clear-groups", "--inh-caps=-all"]
            labs = Labs(home, (*inside, *user), {"HOME": str(home), "XDG_CACHE_HOME": str(cache.parent)})
            try:
                yield labs
            finally:
                _delete(labs, folder)
        finally:
            holder.kill()
            holder.wait(PATIENCE_S)


def _delete(labs: Labs, folder: Path) -> None:
    labs.run("down", "--all")
    # `perflab down` has returned, but deletes files
    wait_for("the files of labs are deleted", lambda: not list(labs.home.glob(".deleted-*")))
    shutil.rmtree(folder)
