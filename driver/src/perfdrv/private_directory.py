"""The private directory of one worker: outside the run, readable by its owner only, gone at the end.

ansible-runner keeps extra vars and the environment in it in the clear, and Ansible decrypts vault files in it, so those
that a killed driver left behind are removed by the next one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from perfanalysis.files.scratch import owned_folder
from perfanalysis.files.scratch import remove_leftovers as remove_folders

from perfdrv.errors import UsageError

PREFIX = "perfdrv-private-"


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
    def temporary(self) -> Path:
        """Temporary files."""
        return self.path / "tmp"

    def variables(self) -> dict[str, str]:
        """Have Ansible, its modules and the programs that they start make their temporary files here.

        Many of them are removed by an orderly exit only, which is not how Ansible's workers end.
        """
        return {"TMPDIR": str(self.temporary), "ANSIBLE_LOCAL_TEMP": str(self.temporary)}


@contextlib.contextmanager
def private_directory() -> Iterator[PrivateDirectory]:
    """Make a private directory (0700) and remove it when the block ends.

    Raises:
        UsageError: there is no place for it.
    """
    with contextlib.ExitStack() as made:
        with _a_place():
            private = PrivateDirectory(made.enter_context(owned_folder(PREFIX)))
            for folder in (private.runner, private.temporary):
                folder.mkdir(mode=0o700)
        yield private


def remove_leftovers(folder: Path | None = None) -> list[Path]:
    """Remove this user's private directories whose maker is dead, and return them.

    Raises:
        UsageError: there is no place for new ones.
    """
    with _a_place():
        return remove_folders(PREFIX, folder)


@contextlib.contextmanager
def _a_place() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"There is no place for temporary files: {why}. Free space, or set TMPDIR.") from error
