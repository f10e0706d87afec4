"""Convert a local folder to ConfigMaps, which a pod mounts as the same folder."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

# Kubernetes' limit for the values of a ConfigMap
_LARGEST_BYTES = 1 << 20
_MOST = 16


@dataclass(frozen=True, slots=True)
class Part:
    """The content of one ConfigMap.

    Attributes:
        paths: Path below the folder by key, which cannot contain slashes.
        content: Content by key, as base64.
    """

    paths: dict[str, str]
    content: dict[str, str]


def parts_of(folder: Path) -> list[Part]:
    """Return the files of *folder* and its subfolders as ConfigMaps, filled in the order of the paths.

    Hidden files and folders are left out, and links that lead out of the folder.

    Raises:
        UsageError: If there is no file, or one is too large, or all together are.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; pass a folder of files to serve")
    parts: list[Part] = []
    room = 0
    for number, path in enumerate(_files(folder)):
        relative, content = path.relative_to(folder), path.read_bytes()
        if len(content) > _LARGEST_BYTES:
            raise UsageError(
                f"{path} has {len(content)} bytes, and a ConfigMap holds {_LARGEST_BYTES}; serve large files from a "
                "volume that storage download_to_pvc fills, or with server deploy_minio_s3_server"
            )
        if len(content) > room or not parts:
            parts.append(Part({}, {}))
            room = _LARGEST_BYTES
        room -= len(content)
        key = f"file-{number}"
        parts[-1].paths[key] = str(relative)
        parts[-1].content[key] = base64.b64encode(content).decode("ascii")
    if not parts:
        raise UsageError(f"{folder} has no files to serve")
    if len(parts) > _MOST:
        raise UsageError(
            f"{folder} needs {len(parts)} ConfigMaps of 1 MiB, at most {_MOST} are supported; use a volume"
        )
    return parts


def _files(folder: Path) -> list[Path]:
    real = folder.resolve()
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.resolve().is_relative_to(real)
    ]
