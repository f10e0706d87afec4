"""The private directory of one worker: outside the run, readable by its owner only, removed at the end.

ansible-runner writes extra vars and the environment into it in plain text, and Ansible decrypts vault files in it. A
driver locks its directories; the next driver removes those that a killed one left.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from perfdrv.errors import UsageError

PREFIX = "perfdrv-private-"
# Ansible 2.21 listens below TMPDIR at pymp-xxxxxxxx/listener-xxxxxxxx, and a socket's path has at most 107 characters
_LONGEST_TEMPORARY = 107 - len("/pymp-xxxxxxxx/listener-xxxxxxxx")
_SHORT_PLACE = Path("/tmp")  # noqa: S108 - for a link with a name that mkdtemp chose


@dataclass(frozen=True, slots=True)
class PrivateDirectory:
    """The folder of a worker and its processes for all files outside the run."""

    path: Path

    @property
    def log(self) -> Path:
        """The worker's standard error."""
        return self.path / "worker.log"

    @property
    def runner(self) -> Path:
        """ansible-runner's files."""
        return self.path / "runner"

    @property
    def extra_vars(self) -> Path:
        """Files of the extra vars of ansible-playbook."""
        return self.path / "vars"

    @property
    def temporary(self) -> Path:
        """Temporary files."""
        return self.path / "tmp"

    @property
    def link(self) -> Path:
        """A link to the temporary files, which exists if their path is too long for a socket."""
        return _SHORT_PLACE / self.path.name

    def make(self) -> None:
        """Create the folders in it."""
        for folder in (self.runner, self.temporary):
            folder.mkdir(mode=0o700)
        if len(str(self.temporary)) > _LONGEST_TEMPORARY:
            self.link.symlink_to(self.temporary)

    def remove(self) -> None:
        """Remove the directory with its content."""
        if self.link.is_symlink() and self.link.readlink() == self.temporary:
            self.link.unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)

    def variables(self) -> dict[str, str]:
        """Return the variables that direct temporary files of Ansible and all its processes here.

        Many of these files are removed only by an orderly exit, and Ansible's workers do not exit orderly. Connections
        to hosts are here too, because the run that opened a shared connection would close it for the others.
        """
        place = str(self.link if self.link.is_symlink() else self.temporary)
        return {"TMPDIR": place, "ANSIBLE_LOCAL_TEMP": place, "ANSIBLE_SSH_CONTROL_PATH_DIR": place}


@contextlib.contextmanager
def private_directory() -> Iterator[PrivateDirectory]:
    """Create a private directory (0700) and remove it when the block ends.

    Raises:
        UsageError: It cannot be created.
    """
    with contextlib.ExitStack() as made:
        with _temporary_files():
            private = PrivateDirectory(Path(tempfile.mkdtemp(prefix=PREFIX)))
            # another driver holds a new directory if it is just removing it
            while not made.enter_context(_held(private.path)):
                private = PrivateDirectory(Path(tempfile.mkdtemp(prefix=PREFIX)))
            made.callback(private.remove)
            private.make()
        yield private


def remove_leftovers() -> list[Path]:
    """Remove this user's private directories that no process holds, and return them.

    Raises:
        UsageError: The folder of temporary files cannot be used.
    """
    removed = []
    with _temporary_files():
        for path in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
            with _held(path) as held:
                if held:
                    PrivateDirectory(path).remove()
                    removed.append(path)
    return removed


@contextlib.contextmanager
def _held(path: Path) -> Iterator[bool]:
    """Hold a folder of this user during the block; yield False if another process holds it, or it is not one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        yield os.fstat(descriptor).st_uid == os.getuid() and _locked(descriptor)
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _temporary_files() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"cannot create temporary files: {why}; free space, or set TMPDIR") from error
