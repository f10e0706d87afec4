"""Image archives of users, as `podman save` and `docker save` write them: read, and given to the node's containerd."""

from __future__ import annotations

import gzip
import json
import platform
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from perflab.errors import ClusterError, UsageError
from perflab.processes import process
from perflab.processes.state import Lab
from perflab.worker import network
from perflab.worker.configuration import Node

_HOW = "write one with `podman save` or `docker save`"
_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")
_CONTAINERD = "containerd"
_GZIP = b"\x1f\x8b"


def with_real_node(lab: Lab) -> Lab:
    """Return the lab.

    Raises:
        UsageError: It has no real node.
    """
    if network.of(lab) is None:
        raise UsageError(f"the lab {lab.name!r} has no real node: create a lab with `perflab up --with worker`")
    return lab


def load(lab: Lab, archive: Path) -> list[str]:
    """Give the images of an archive to the real node of a lab; return their names.

    Raises:
        UsageError: The file is not an archive of named images.
        ClusterError: containerd does not run, or refuses the archive.
    """
    addresses = network.of(lab)
    assert addresses is not None  # noqa: S101  the caller has called with_real_node
    found = names(archive)
    pid = _containerd(lab)
    programs = Path(f"/proc/{pid}/exe").resolve().parent
    # its socket is in a folder that the node hides
    command = Node(lab, addresses, programs).importing(Path("-"), root=f"/proc/{pid}/root")
    with _plain(archive) as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        reason = done.stderr.strip().rpartition("\n")[2].removeprefix("ctr: ")
        raise ClusterError(f"containerd cannot import {archive} for {platform.machine()}: {reason}")
    return found


def names(archive: Path) -> list[str]:
    """Return the names of the images in an archive of the OCI layout or of Docker's.

    Raises:
        UsageError: It is not such an archive, or no image has a name.
    """
    try:
        with tarfile.open(archive, "r:gz" if _is_compressed(archive) else "r:") as opened:
            index, manifest = (_read(opened, name) for name in ("index.json", "manifest.json"))
    except (tarfile.TarError, ValueError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UsageError(
            f"{archive} is not a complete image archive, as it is or compressed by gzip: {_HOW}"
        ) from error
    if index is None and manifest is None:
        raise UsageError(f"{archive} has neither index.json nor manifest.json of an image archive: {_HOW}")
    found = [_name(each.get("annotations") or {}) for each in (index or {}).get("manifests") or ()]
    found += [tag for each in manifest or () for tag in each.get("RepoTags") or ()]
    if not any(found):
        raise UsageError(f"no image in {archive} has a name: save it by its name, as in `podman save -o FILE NAME:TAG`")
    return list(dict.fromkeys(filter(None, found)))


@contextmanager
def _plain(archive: Path) -> Iterator[IO[bytes]]:
    """Yield the open archive, or what it is without its compression, with which containerd's client does not deal."""
    if not _is_compressed(archive):
        with archive.open("rb") as file:
            yield file
        return
    with gzip.open(archive) as compressed, tempfile.TemporaryFile() as plain:
        shutil.copyfileobj(compressed, plain)
        plain.seek(0)
        yield plain


def _is_compressed(archive: Path) -> bool:
    with archive.open("rb") as file:
        return file.read(len(_GZIP)) == _GZIP


def _read(archive: tarfile.TarFile, name: str) -> Any:
    """Return the JSON value of a file in an archive; None if it is missing."""
    entry = next((each for each in archive if each.isfile() and each.name.removeprefix("./") == name), None)
    file = archive.extractfile(entry) if entry else None
    return json.load(file) if file else None


def _name(annotations: dict[str, str]) -> str:
    # containerd does not use a tag alone
    full = (annotations[key] for key in _NAMES if set("/:@") & set(annotations.get(key, "")))
    return next(full, "")


def _containerd(lab: Lab) -> int:
    for each in process.find_marked(lab.folder):
        if Path(f"/proc/{each.pid}/exe").resolve().name == _CONTAINERD:
            return each.pid
    raise ClusterError(f"containerd of the lab {lab.name!r} does not run: try again, or `perflab restart worker`")
