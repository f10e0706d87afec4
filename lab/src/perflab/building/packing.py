"""Archives of built programs: written from the user's cache, and read into it completely or not at all."""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import io
import os
import platform
import shutil
import tarfile
import urllib.request
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, Literal

import msgspec

from perflab.building import envoy, llama
from perflab.building.component import Component
from perflab.building.components import COMPONENTS, DEFINITIONS, PRODUCTS, PROMETHEUS, S3_SERVER, lock_hash
from perflab.building.sets import compiler, find_set, only_builder
from perflab.errors import ClusterError, PrintLine, UsageError

SCHEMA: Final = "psap.perf/lab-archive/1"
_RECORD = "archive.json"
_BLOCK_BYTES = 1 << 20
_SILENCE_S = 60
# raised for a file that is no archive, or only a part of one
_UNREADABLE = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, msgspec.MsgspecError)


class _SetRecord(msgspec.Struct, frozen=True):
    """A packed set: how it was built, the lock files and modules that it was built of, and its files' SHA-256."""

    versions: dict[str, str]
    compiler: str
    locks: dict[str, str]
    modules: dict[str, str]
    files: dict[str, str]


class _Record(msgspec.Struct, frozen=True):
    """The first member of an archive; *sets* by the names of their folders in the cache."""

    schema: Literal["psap.perf/lab-archive/1"]
    psap_perf: str
    machine: str
    sets: dict[str, _SetRecord]


@dataclass(frozen=True, slots=True)
class _LockedSet:
    """A set that this version builds on this machine: the versions of its parts, and the files that pin them."""

    versions: Mapping[str, str]
    locks: tuple[Path, ...]


def _known_sets() -> dict[str, _LockedSet]:
    """Return each set by the name of its folder in the cache."""
    of_go = (COMPONENTS, PROMETHEUS, DEFINITIONS, S3_SERVER, *PRODUCTS.values())
    return {
        **{lock_hash(components): _locked(components) for components in of_go},
        envoy.lock_hash(): _LockedSet(envoy.versions(), (envoy.REQUIREMENTS,)),
        llama.lock_hash(): _LockedSet(llama.versions(), (llama.REQUIREMENTS,)),
    }


def _locked(components: Sequence[Component]) -> _LockedSet:
    return _LockedSet(
        {component.name: component.version for component in components},
        tuple(path for component in components for path in component.sources()),
    )


def pack(folders: Sequence[Path], target: Path, print_line: PrintLine) -> None:
    """Write the complete sets in *folders* of the cache and a record of their origin to the archive *target*.

    The same sets make the same archive. Raises UsageError if it cannot be written; then *target* is unchanged.
    """
    known = _known_sets()
    record = _Record(
        schema=SCHEMA,
        psap_perf=importlib.metadata.version("psap-perf"),
        machine=platform.machine(),
        sets={folder.name: _set_record(folder, known[folder.name]) for folder in folders},
    )
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=0) as compressed:
            _write_members(compressed, msgspec.json.format(msgspec.json.encode(record)), folders)
        partial.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write the archive {target}: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)
    print_line(f"packed {len(folders)} sets of programs into {target}, {target.stat().st_size / 1e6:.0f} MB")


def _set_record(folder: Path, known: _LockedSet) -> _SetRecord:
    return _SetRecord(
        versions=dict(known.versions),
        compiler=compiler(folder),
        locks={f"{path.parent.name}/{path.name}": _sha256(path) for path in known.locks},
        modules=_module_sums(known.locks),
        files={str(path.relative_to(folder)): _sha256(path) for path in _files(folder)},
    )


def _module_sums(locks: Sequence[Path]) -> dict[str, str]:
    """Return `module version` → hash of the module's contents, as `go.sum` has it."""
    lines = (line.split() for path in locks if path.name == "go.sum" for line in path.read_text().splitlines())
    return {f"{module} {version}": sum_ for module, version, sum_ in lines if not version.endswith("/go.mod")}


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_members(file: gzip.GzipFile, record: bytes, folders: Sequence[Path]) -> None:
    with tarfile.open(fileobj=file, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo(_RECORD)
        member.size = len(record)
        archive.addfile(member, io.BytesIO(record))
        for folder in folders:
            for path in _files(folder):
                member = tarfile.TarInfo(f"{folder.name}/{path.relative_to(folder)}")
                member.size, member.mode = path.stat().st_size, path.stat().st_mode & 0o777
                with path.open("rb") as contents:
                    archive.addfile(member, contents)


def install(cache: Path, source: str, sha256: str | None, print_line: PrintLine) -> None:
    """Put the sets of the archive *source*, a file or a URL, into *cache*, except for those that are there.

    Raises UsageError if the archive is damaged, has another SHA-256 than *sha256*, or is of other versions or another
    kind of machine; ClusterError if it cannot be read or there is no space. Then the cache is unchanged.
    """
    try:
        with only_builder(cache, print_line), _opened(source) as file:
            print_line(f"reading the lab's programs from {source}")
            stream = _HashedStream(file)
            with tarfile.open(fileobj=stream, mode="r|gz") as archive, _partial_folders() as partial:  # type: ignore[call-overload]
                record = _read_record(archive)
                _check_versions(record)
                missing = {name: each for name, each in record.sets.items() if find_set(cache / name) is None}
                for name in missing:
                    partial[name] = cache / f"{name}.partial-{os.getpid()}"
                _extract(archive, record, partial)
                stream.check(sha256)
                for name, folder in partial.items():
                    shutil.rmtree(cache / name, ignore_errors=True)
                    folder.replace(cache / name)
    except _UNREADABLE as error:
        raise UsageError(f"damaged archive {source}: {error or 'its end is missing'}; get it again") from error
    except _UnusableArchiveError as error:
        raise UsageError(f"cannot use the archive {source}: {error}") from error
    except OSError as error:
        raise ClusterError(f"cannot install the programs of {source}: {error}") from error
    print_line(f"installed {len(missing)} of {len(record.sets)} sets of programs; the others are already in the cache")


@contextmanager
def _opened(source: str) -> Iterator[IO[bytes]]:
    if "://" in source:
        with urllib.request.urlopen(source, timeout=_SILENCE_S) as response:  # noqa: S310  the user names the URL
            yield response
    else:
        with Path(source).open("rb") as file:
            yield file


@contextmanager
def _partial_folders() -> Iterator[dict[str, Path]]:
    """Yield a dictionary of folders, of which those that still exist are removed at the end."""
    folders: dict[str, Path] = {}
    try:
        yield folders
    finally:
        for folder in folders.values():
            shutil.rmtree(folder, ignore_errors=True)


class _UnusableArchiveError(Exception):
    """A complete archive that cannot be used here; the message states the reason and the remedy."""


@dataclass(slots=True)
class _HashedStream:
    """A file that is read once, with the SHA-256 of the bytes read so far."""

    file: IO[bytes]
    digest: Any = field(default_factory=hashlib.sha256)

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        block = self.file.read(size)
        self.digest.update(block)
        return block

    def check(self, expected: str | None) -> None:
        """Read the rest; raise _UnusableArchiveError if the file has another SHA-256."""
        while self.read(_BLOCK_BYTES):
            pass
        found = self.digest.hexdigest()
        if expected is not None and found != expected.lower():
            raise _UnusableArchiveError(f"its SHA-256 is {found}, not {expected}; get it again, or correct --sha256")


def _read_record(archive: tarfile.TarFile) -> _Record:
    member = archive.next()
    contents = archive.extractfile(member) if member is not None and member.name == _RECORD else None
    if contents is None:
        raise tarfile.ReadError(f"it does not begin with {_RECORD}, as `perflab build --pack` writes it")
    return msgspec.json.decode(contents.read(), type=_Record)


def _check_versions(record: _Record) -> None:
    if record.machine != platform.machine():
        raise _UnusableArchiveError(f"its programs are for {record.machine}, and this machine is {platform.machine()}")
    known = _known_sets()
    here = {name: version for each in known.values() for name, version in each.versions.items()}
    for name, each in record.sets.items():
        if name in known:
            continue
        different = [
            f"{part} {version} instead of {here.get(part, 'none')}"
            for part, version in each.versions.items()
            if here.get(part) != version
        ]
        raise _UnusableArchiveError(
            f"it has {', '.join(different) or 'programs of another build'}: get the archive of psap-perf "
            f"{importlib.metadata.version('psap-perf')} (this one is of {record.psap_perf}), or build without --from"
        )


def _extract(archive: tarfile.TarFile, record: _Record, partial: Mapping[str, Path]) -> None:
    """Write the files of the sets in *partial*; the archive must have every file of the record, with its SHA-256."""
    expected = {f"{name}/{file}": digest for name, each in record.sets.items() for file, digest in each.files.items()}
    while (member := archive.next()) is not None:
        digest = expected.pop(member.name, None)
        contents = archive.extractfile(member) if member.isfile() else None
        if digest is None or contents is None:
            raise tarfile.ReadError(f"{_RECORD} does not list {member.name}")
        name, _slash, file = member.name.partition("/")
        if name in partial:
            _write_file(contents, _below(partial[name], file), member.mode, digest)
    if expected:
        raise tarfile.ReadError(f"{len(expected)} files are missing, such as {min(expected)}")


def _below(folder: Path, file: str) -> Path:
    path = folder / file
    if ".." in path.parts or not path.is_relative_to(folder):
        raise tarfile.ReadError(f"a file has the name {file}")
    return path


def _write_file(contents: IO[bytes], path: Path, mode: int, digest: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    sha256 = hashlib.sha256()
    with path.open("wb") as file:
        while block := contents.read(_BLOCK_BYTES):
            sha256.update(block)
            file.write(block)
        file.flush()
        # a crash after the rename must not leave names without contents
        os.fsync(file.fileno())
    path.chmod(mode & 0o755)
    if sha256.hexdigest() != digest:
        raise tarfile.ReadError(f"{path.name} has another SHA-256 than {_RECORD} lists")
