"""Archive the database of a Prometheus, from a snapshot or from its pod, and check the archive."""

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
# the samples are already compressed
_COMPRESSION = 1


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of an archive: files, their bytes, the database's blocks, and whether it has a write-ahead log."""

    files: int
    size_bytes: int
    blocks: int
    log: bool


def dump_snapshot(prometheus: Prometheus, archive: Path) -> Contents:
    """Make a snapshot, archive it as *archive*, and remove it. It is consistent and has all samples until now.

    Raises:
        ClusterError: If the folder of the database is not on this machine.
    """
    data = prometheus.address.data
    if data is None:
        raise ClusterError(
            f"Prometheus at {prometheus.address.url} can make a snapshot, but the folder of its database is unknown "
            "here; dump it from its pod with exec"
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
    """Archive *directory* of a pod as *archive*; return its contents, and tar's warnings about files that changed.

    Blocks do not change. The write-ahead log is written while tar reads it; Prometheus repairs its end on opening.

    Args:
        run: Runs a program in the pod, with its output in the stream.

    Raises:
        PerfError: If tar fails; the partial archive is removed.
        DataQualityError: If it is not a database, or cannot be read to its end.
    """
    path = PurePosixPath(directory)
    with completing(archive) as partial:
        with partial.open("wb") as stream:
            done = run(["tar", "czf", "-", "-C", str(path.parent), path.name], stream)
        if done.exit_code not in (_TAR_OK, _TAR_CHANGED):
            raise PerfError(f"tar of {directory} failed with exit code {done.exit_code}: {done.errors}")
    try:
        contents = contents_of(archive)
        if not contents.blocks and not contents.log:
            raise DataQualityError(
                f"{directory} is not a database of Prometheus: it has neither blocks nor a write-ahead log"
            )
    except PerfError:
        archive.unlink(missing_ok=True)
        raise
    return contents, done.errors


def contents_of(archive: Path) -> Contents:
    """Read *archive* to its end.

    Raises:
        DataQualityError: If it cannot be read.
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
