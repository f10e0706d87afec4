"""The private directory of one worker: outside the run, readable by its owner only, gone at the end.

ansible-runner keeps extra vars and the environment in it in the clear, and Ansible decrypts vault files in it, so those
that a killed driver left behind are removed by the next one: the driver holds a lock on each of its own.
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
_SHORT_PLACE = Path("/tmp")  # noqa: S108 - for a link of our own, with a name that mkdtemp chose


@dataclass(frozen=True, slots=True)
class PrivateDirectory:
    """Where a worker and all that it starts write what is not the run's."""

    path: Path

    @property
    def log(self) -> Path:
        """What the worker says on its standard error."""
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
        """A short way to the temporary files, which is there where their own path is too long for a socket."""
        return _SHORT_PLACE / self.path.name

    def make(self) -> None:
        """Make the folders in it."""
        for folder in (self.runner, self.temporary):
            folder.mkdir(mode=0o700)
        if len(str(self.temporary)) > _LONGEST_TEMPORARY:
            self.link.symlink_to(self.temporary)

    def remove(self) -> None:
        """Remove it with all that is in it."""
        if self.link.is_symlink() and self.link.readlink() == self.temporary:
            self.link.unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)

    def variables(self) -> dict[str, str]:
        """Have Ansible, its modules and the programs that they start make their temporary files here.

        Many of them are removed by an orderly exit only, which is not how Ansible's workers end. So are connections to
        a host that several runs would share: the one that opened it would take it from the others at its end.
        """
        place = str(self.link if self.link.is_symlink() else self.temporary)
        return {"TMPDIR": place, "ANSIBLE_LOCAL_TEMP": place, "ANSIBLE_SSH_CONTROL_PATH_DIR": place}


@contextlib.contextmanager
def private_directory() -> Iterator[PrivateDirectory]:
    """Make a private directory (0700) and remove it when the block ends.

    Raises:
        UsageError: there is no place for it.
    """
    with contextlib.ExitStack() as made:
        with _a_place():
            private = PrivateDirectory(Path(tempfile.mkdtemp(prefix=PREFIX)))
            # one that is held by somebody else is being swept up in this very moment
            while not made.enter_context(_held(private.path)):
                private = PrivateDirectory(Path(tempfile.mkdtemp(prefix=PREFIX)))
            made.callback(private.remove)
            private.make()
        yield private


def remove_leftovers() -> list[Path]:
    """Remove this user's private directories that nobody holds, and return them.

    Raises:
        UsageError: there is no place for new ones.
    """
    removed = []
    with _a_place():
        for path in sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*")):
            with _held(path) as held:
                if held:
                    PrivateDirectory(path).remove()
                    removed.append(path)
    return removed


@contextlib.contextmanager
def _held(path: Path) -> Iterator[bool]:
    """Hold a folder of this user as long as the block lasts; false where another process does, or it is none."""
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
def _a_place() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"There is no place for temporary files: {why}. Free space, or set TMPDIR.") from error
