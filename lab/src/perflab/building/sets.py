"""Sets of programs in the user's cache: each appears completely, by a rename, or not at all."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from perflab.errors import PrintLine
from perflab.files import documents

DEFINITIONS_FOLDER = "definitions"
SCHEMA = "psap.perf/lab-binaries/1"


@dataclass(frozen=True, slots=True)
class Binaries:
    """One complete set of programs and their CRDs, and further sets in *beside*."""

    folder: Path
    beside: tuple[Path, ...] = ()

    def program(self, name: str) -> Path:
        """Return the path of a program, such as `kube-apiserver`."""
        return self._found(f"bin/{name}")

    def manifests(self, name: str) -> Path:
        """Return the folder of YAML files copied from a module, such as `kueue-crds`."""
        return self._found(name)

    def definitions(self, name: str) -> list[Path]:
        """Return the CustomResourceDefinitions that an emulator, or OLM, has from modules; often none."""
        return sorted(self.manifests(DEFINITIONS_FOLDER).joinpath(name).glob("*.json"))

    def _found(self, name: str) -> Path:
        paths = [folder / name for folder in (*self.beside, self.folder)]
        return next((path for path in paths if path.exists()), paths[-1])


def find_set(folder: Path) -> Binaries | None:
    """Return the set in *folder*, or None if it is missing or damaged."""
    record = documents.read_json(folder / "built.json")
    if record is None:
        return None
    sizes: dict[str, int] = record["sizes"]
    whole = all((folder / name).is_file() and (folder / name).stat().st_size == size for name, size in sizes.items())
    return Binaries(folder) if whole else None


def compiler(folder: Path) -> str:
    """Return the compiler that built the complete set in *folder*, or where it was fetched from."""
    record = documents.read_json(folder / "built.json")
    return str(record["compiler"]) if record else ""


@contextmanager
def only_builder(cache: Path, print_line: PrintLine) -> Iterator[None]:
    """Wait until no other process builds into *cache*."""
    cache.mkdir(parents=True, exist_ok=True)
    # the kernel releases this lock when the process ends in any way
    with (cache / "build.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print_line("waiting for another process that builds the lab's programs")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure_set(folder: Path, print_line: PrintLine, build: Callable[[Path, PrintLine], Binaries]) -> Binaries:
    """Return the set in *folder* of a cache, calling *build* if it is missing or damaged."""
    found = find_set(folder)
    if found is not None:
        return found
    with only_builder(folder.parent, print_line):
        found = find_set(folder)
        if found is not None:
            return found
        _remove_leftovers(folder)
        return build(folder, print_line)


def _remove_leftovers(folder: Path) -> None:
    """Remove remains of killed builds, and a damaged set; the caller is the :func:`only_builder`."""
    for leftover in folder.parent.glob("*.partial-*"):
        shutil.rmtree(leftover)
    if folder.exists():
        shutil.rmtree(folder)


@contextmanager
def whole_set(folder: Path, versions: Mapping[str, str], compiler: str) -> Iterator[Path]:
    """Yield a folder to build into, with `bin` and `work`; on success it becomes *folder*, without `work`."""
    partial = folder.with_name(f"{folder.name}.partial-{os.getpid()}")
    for name in ("bin", "work"):
        (partial / name).mkdir(parents=True)
    started = time.monotonic()
    try:
        yield partial
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    shutil.rmtree(partial / "work")
    _record(partial, versions, compiler, time.monotonic() - started)
    partial.replace(folder)


def _record(partial: Path, versions: Mapping[str, str], compiler: str, seconds: float) -> None:
    sizes = {}
    for path in sorted(partial.rglob("*")):
        if path.is_file():
            sizes[str(path.relative_to(partial))] = path.stat().st_size
            # a crash after the rename must not leave names without contents
            with path.open("rb") as file:
                os.fsync(file.fileno())
    record = {
        "schema": SCHEMA,
        "versions": dict(versions),
        "compiler": compiler,
        "seconds": round(seconds, 1),
        "sizes": sizes,
    }
    documents.write_json(partial / "built.json", record)
