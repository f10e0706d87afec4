"""The database of a Prometheus as an archive, from a snapshot or out of its pod, and whether it can be read."""

from __future__ import annotations

import re
import shutil
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.documents import completing
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, DataQualityError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import Executed
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Prometheus

_BLOCK = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_TAR_OK, _TAR_CHANGED = 0, 1
# the samples are compressed already
_COMPRESSION = 1


@dataclass(frozen=True, slots=True)
class Contents:
    """What an archive has: files, their bytes, blocks of the database, and whether its write-ahead log is there."""

    files: int
    size_bytes: int
    blocks: int
    log: bool


def dump_snapshot(prometheus: Prometheus, archive: Path) -> Contents:
    """Make a snapshot, keep it as *archive* and remove it. It has all that was scraped until now, and is consistent.

    :raises ClusterError: when the folder of the database is not on this machine.
    """
    data = prometheus.address.data
    if data is None:
        raise ClusterError(
            f"Prometheus at {prometheus.address.url} can make a snapshot, but the folder of its database is not known "
            "here; take it out of its pod with exec"
        )
    name = prometheus.snapshot()
    folder = data / "snapshots" / name
    if not folder.is_dir():
        raise ClusterError(f"Prometheus made the snapshot {name}, but {folder} is not on this machine; use exec")
    try:
        with (
            completing(archive) as partial,
            tarfile.open(partial, "w:gz", compresslevel=_COMPRESSION) as packed,
        ):
            packed.add(folder, arcname="prometheus")
    except OSError as error:
        raise PerfError(f"cannot write {archive}: {error.strerror}; free space or choose another folder") from error
    finally:
        shutil.rmtree(folder)
    return contents_of(archive)


def dump_pod(run: Callable[[list[str], BinaryIO], Executed], directory: str, archive: Path) -> tuple[Contents, str]:
    """Keep *directory* of a pod as *archive*; also what its tar said of files that changed meanwhile.

    Blocks do not change. The write-ahead log is written while it is read: Prometheus repairs its end when it opens it.

    :param run: runs a program in the pod, its output going to the stream.
    :raises PerfError: when tar fails; what came is removed.
    :raises DataQualityError: when it is no database, or cannot be read to its end.
    """
    path = PurePosixPath(directory)
    with completing(archive) as partial:
        with partial.open("wb") as stream:
            done = run(["tar", "czf", "-", "-C", str(path.parent), path.name], stream)
        if done.exit_code not in (_TAR_OK, _TAR_CHANGED):
            raise PerfError(f"tar of {directory} ended with {done.exit_code}: {done.errors}")
    try:
        contents = contents_of(archive)
        if not contents.blocks and not contents.log:
            raise DataQualityError(f"{directory} has no database of Prometheus: neither blocks nor a write-ahead log")
    except PerfError:
        archive.unlink(missing_ok=True)
        raise
    return contents, done.errors


def contents_of(archive: Path) -> Contents:
    """Read *archive* to its end.

    :raises DataQualityError: when that cannot be done.
    """
    files = size = 0
    blocks: set[str] = set()
    log = False
    try:
        with tarfile.open(archive, "r|gz") as packed:
            for member in packed:
                parts = PurePosixPath(member.name).parts
                blocks.update(part for part in parts if _BLOCK.fullmatch(part))
                log = log or "wal" in parts
                files += member.isfile()
                size += member.size
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise DataQualityError(f"{archive} cannot be read to its end: {error}; dump the database again") from error
    return Contents(files, size, len(blocks), log)
