"""Pack and unpack trees of files as one archive, on either end of a connection.

Ansible sends this module to hosts: it needs only Python 3.9 and its standard library.
"""

from __future__ import annotations

import hashlib
import tarfile
from dataclasses import dataclass
from pathlib import Path


class ArchiveError(Exception):
    """An invalid tree or archive."""


@dataclass(frozen=True)
class Packed:
    """An archive of *files* regular files, which have *content_bytes*."""

    archive: str
    files: int
    content_bytes: int
    sha256: str


def pack(path: Path, archive: Path, most_bytes: int) -> Packed:
    """Pack the file or the content of the folder *path* into *archive*, a compressed tar.

    Links remain links; sockets and devices are omitted.

    Raises:
        ArchiveError: If *path* is missing, or has more than *most_bytes*.
    """
    files, size = 0, 0

    def select(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        nonlocal files, size
        files, size = files + member.isfile(), size + (member.size if member.isfile() else 0)
        if size > most_bytes:
            raise ArchiveError(f"{path} has more than {most_bytes >> 20} MiB, the limit of a copy")
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member if member.isfile() or member.isdir() or member.issym() else None

    if not path.exists():
        raise ArchiveError(f"{path} does not exist")
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(str(path), path.name if path.is_file() else ".", filter=select)
    archive.chmod(0o600)
    return Packed(str(archive), files, size, digest(archive))


def unpack(archive: Path, folder: Path) -> None:
    """Unpack into *folder*, which is created; existing files without a counterpart stay.

    Raises:
        ArchiveError: If a member is outside the folder, or a device.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
        for member in members:
            _check(member, folder)
        # the filter of newer Python versions checks links too
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        try:
            tar.extractall(str(folder), members=members)  # noqa: S202 - checked, and filtered
        except tarfile.TarError as error:
            raise ArchiveError(f"cannot unpack into {folder}: {error}") from error


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    hashed = hashlib.sha256()
    with path.open("rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            hashed.update(block)
    return hashed.hexdigest()


def _check(member: tarfile.TarInfo, folder: Path) -> None:
    parts = Path(member.name).parts
    if Path(member.name).is_absolute() or ".." in parts:
        raise ArchiveError(f"{member.name} of the archive would be outside {folder}")
    if not (member.isfile() or member.isdir() or member.issym()):
        raise ArchiveError(f"{member.name} of the archive is neither a file nor a folder nor a link")
