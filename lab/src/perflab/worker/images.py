"""Image archives written from files of this machine: the same files give the same bytes, without a registry."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import platform
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from perflab.worker import compiling

PAUSE = "localhost/perflab/pause:1"
ARGOEXEC = "localhost/perflab/argoexec:1"
PYTHON = "localhost/perflab/python:3"

# changes with anything that this module writes differently
_FORMAT = 1
_TIME = "2000-01-01T00:00:00Z"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_LAYER = "application/vnd.oci.image.layer.v1.tar"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_CHUNK = 1024**2


@dataclass(frozen=True, slots=True)
class Image:
    """An image: its name, and each path in it with a file of this machine, a text, or the target of a link.

    `folders` are empty folders that every user may write to. A text that begins with `#!` is a program. Of
    a *compiled* image, each Python module is also there in the compiled form that this Python reads.
    """

    name: str
    files: Mapping[str, Path] = dataclasses.field(default_factory=dict)
    texts: Mapping[str, str] = dataclasses.field(default_factory=dict)
    links: Mapping[str, str] = dataclasses.field(default_factory=dict)
    folders: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    working_folder: str = "/"
    compiled: bool = False

    @property
    def short_name(self) -> str:
        """Return `python` for `localhost/perflab/python:3`."""
        return self.name.rpartition("/")[2].partition(":")[0]

    def digest(self) -> str:
        """Return 12 hexadecimal digits that change with any path, mode, content or setting."""
        found = hashlib.sha256(json.dumps([_FORMAT, self._settings()], sort_keys=True).encode())
        for path, source in sorted(self.files.items()):
            found.update(f"\0{path}\0{_mode(source)}\0{source.stat().st_size}\0".encode())
            with source.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    found.update(chunk)
        return found.hexdigest()[:12]

    def _settings(self) -> list[Any]:
        written = [dict(self.texts), dict(self.links), self.folders, self.command, dict(self.environment)]
        python = compiling.MAGIC if self.compiled else ""
        return [self.name, platform.machine(), *written, self.working_folder, python]


def ensure(cache: Path, image: Image) -> Path:
    """Return the archive of the image in the cache, after writing it if it is missing."""
    archive = cache / "images" / f"{image.short_name}-{image.digest()}.tar"
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=archive.parent, prefix=".partial-") as partial:
            write(image, partial)
            partial.flush()
            # a link instead of a rename: the temporary file is removed in any case
            archive.unlink(missing_ok=True)
            os.link(partial.name, archive)
    return archive


def write(image: Image, output: IO[bytes]) -> None:
    """Write the image as an archive of the OCI layout with one layer."""
    with tempfile.TemporaryFile() as layer:
        _write_layer(image, layer)
        blob = _described(layer, _LAYER)
        config = json.dumps(_config(image, blob["digest"]), sort_keys=True).encode()
        manifest = json.dumps(_manifest(config, blob), sort_keys=True).encode()
        index = json.dumps(_index(image, manifest), sort_keys=True).encode()
        with tarfile.open(fileobj=output, mode="w", format=tarfile.GNU_FORMAT) as archive:
            _add(archive, "oci-layout", io.BytesIO(b'{"imageLayoutVersion":"1.0.0"}'))
            _add(archive, "index.json", io.BytesIO(index))
            for contents in (io.BytesIO(config), io.BytesIO(manifest), layer):
                _add(archive, f"blobs/sha256/{_digest(contents)}", contents)


def _config(image: Image, layer: str) -> dict[str, Any]:
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", **image.environment}
    settings = {"Cmd": list(image.command), "Env": [f"{key}={text}" for key, text in variables.items()]}
    return {
        "created": _TIME,
        **_platform(),
        "rootfs": {"type": "layers", "diff_ids": [layer]},
        "config": {**settings, "WorkingDir": image.working_folder},
    }


def _manifest(config: bytes, layer: dict[str, Any]) -> dict[str, Any]:
    described = _described(io.BytesIO(config), _CONFIG)
    return {"schemaVersion": 2, "mediaType": _MANIFEST, "config": described, "layers": [layer]}


def _index(image: Image, manifest: bytes) -> dict[str, Any]:
    names = {"io.containerd.image.name": image.name, "org.opencontainers.image.ref.name": image.name.rpartition(":")[2]}
    described = {**_described(io.BytesIO(manifest), _MANIFEST), "platform": _platform(), "annotations": names}
    return {"schemaVersion": 2, "manifests": [described]}


def _platform() -> dict[str, str]:
    machine = platform.machine()
    return {"architecture": _ARCHITECTURES.get(machine, machine), "os": "linux"}


def _described(contents: IO[bytes], kind: str) -> dict[str, Any]:
    return {"mediaType": kind, "digest": f"sha256:{_digest(contents)}", "size": contents.seek(0, io.SEEK_END)}


def _digest(contents: IO[bytes]) -> str:
    contents.seek(0)
    # typed for files that are opened without Python's protocol of buffers only
    return hashlib.file_digest(contents, "sha256").hexdigest()  # type: ignore[arg-type]


def _add(archive: tarfile.TarFile, name: str, contents: IO[bytes]) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = contents.seek(0, io.SEEK_END)
    contents.seek(0)
    archive.addfile(entry, contents)


def _write_layer(image: Image, output: IO[bytes]) -> None:
    paths = [*image.files, *image.texts, *image.links, *image.folders]
    paths += [compiling.path(path) for path in image.files if image.compiled and compiling.is_module(path)]
    with tarfile.open(fileobj=output, mode="w", format=tarfile.GNU_FORMAT) as layer:
        for folder in _parents(paths):
            layer.addfile(_entry(folder, tarfile.DIRTYPE, 0o755))
        for folder in sorted(image.folders):
            layer.addfile(_entry(folder, tarfile.DIRTYPE, 0o1777))
        for path, target in sorted(image.links.items()):
            entry = _entry(path, tarfile.SYMTYPE, 0o777)
            entry.linkname = target
            layer.addfile(entry)
        for path, text in sorted(image.texts.items()):
            mode = 0o755 if text.startswith("#!") else 0o644
            _add_file(layer, _entry(path, tarfile.REGTYPE, mode), io.BytesIO(text.encode()))
        for path, source in sorted(image.files.items()):
            with source.open("rb") as file:
                _add_file(layer, _entry(path, tarfile.REGTYPE, _mode(source)), file)
        for path, data in _modules(image):
            _add_file(layer, _entry(path, tarfile.REGTYPE, 0o644), io.BytesIO(data))


def _modules(image: Image) -> Iterator[tuple[str, bytes]]:
    """Yield path and contents of each compiled module."""
    for path, source in sorted(image.files.items()) if image.compiled else ():
        if compiling.is_module(path) and (data := compiling.compiled(path, source.read_bytes())):
            yield compiling.path(path), data


def _parents(paths: Iterable[str]) -> list[str]:
    found = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    return sorted(found - {"/", "."})


def _entry(path: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path.lstrip("/"))
    entry.type, entry.mode = kind, mode
    return entry


def _add_file(layer: tarfile.TarFile, entry: tarfile.TarInfo, contents: IO[bytes]) -> None:
    entry.size = contents.seek(0, io.SEEK_END)
    contents.seek(0)
    layer.addfile(entry, contents)


def _mode(source: Path) -> int:
    return 0o755 if source.stat().st_mode & 0o100 else 0o644
