"""Unpack the artifacts of a user, which come from a pod and may contain anything."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError


def unpack(stream: BinaryIO, folder: Path) -> int:
    """Write the files of an archive to *folder*; return their number.

    Only ordinary files with paths inside *folder* are written.

    Raises:
        ClusterError: If the archive is damaged.
        PerfError: If a file cannot be written.
    """
    count = 0
    try:
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            for member in archive:
                path = PurePosixPath(member.name)
                source = archive.extractfile(member) if member.isfile() else None
                if source is None or path.is_absolute() or ".." in path.parts:
                    continue
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as copied:
                    shutil.copyfileobj(source, copied)
                count += 1
    except tarfile.TarError as error:
        raise ClusterError(f"the artifacts of {folder.name} arrived damaged: {error}") from error
    except OSError as error:
        raise PerfError(f"cannot write {folder}: {error.strerror}; free space or choose another folder") from error
    return count
