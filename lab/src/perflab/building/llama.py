"""Builds llama.cpp, its server and llama-bench, and models of random weights: for tests, and for images of a lab."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import tarfile
import time
from pathlib import Path

from perflab.building.commands import pinned, pip, run
from perflab.building.sets import Binaries, ensure_set, whole_set
from perflab.errors import ClusterError, PrintLine

SOURCES = Path(__file__).parent / "llama_cpp"
REQUIREMENTS = SOURCES / "requirements.txt"
PROGRAMS = ("llama-server", "llama-bench")
MODEL, RANDOM_26M = "tiny.gguf", "random-26m.gguf"
# layers, width, heads and inner width of each; the second has 26 million parameters
_SIZES = {MODEL: (2, 64, 4, 128), RANDOM_26M: (8, 512, 8, 1408)}
# writes the models; only in the lab's cache during that time
_GGUF_FROM_PYPI = "gguf==0.19.0"
# programs that a build needs on PATH, by their Debian packages
_NEEDED = {"cmake": "cmake", "ninja": "ninja-build", "c++": "g++"}
_NEEDED_BYTES = 1.5e9
_OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    # a third of the time to compile; the speed of a model with random weights does not matter
    "CMAKE_CXX_FLAGS_RELEASE": "-O1 -DNDEBUG",
    "CMAKE_PROJECT_llama.cpp_INCLUDE": str(SOURCES / "unite.cmake"),
    "BUILD_SHARED_LIBS": "OFF",
    "GGML_CCACHE": "OFF",
    # machines may share the cache
    "GGML_NATIVE": "OFF",
    "GGML_OPENMP": "OFF",
    "LLAMA_BUILD_APP": "OFF",
    "LLAMA_BUILD_EXAMPLES": "OFF",
    "LLAMA_BUILD_TESTS": "OFF",
    "LLAMA_BUILD_UI": "OFF",
    "LLAMA_OPENSSL": "OFF",
    "LLAMA_USE_PREBUILT_UI": "OFF",
}


def lock_hash(machine: str = platform.machine()) -> str:
    """Return 12 hexadecimal digits that change with the pinned sources, build options and the kind of machine."""
    digest = hashlib.sha256(machine.encode())
    for path in (Path(__file__), *sorted(path for path in SOURCES.iterdir() if path.is_file())):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def ensure_llama_cpp(cache: Path, print_line: PrintLine) -> Binaries:
    """Return the programs and the models, building them first if needed (minutes).

    Raises ClusterError if there is no compiler or no disk space, or if a build fails.
    """
    return ensure_set(cache / lock_hash(), print_line, _build)


def model(binaries: Binaries, name: str = MODEL) -> Path:
    """Return the path of a model, the tiny one by default."""
    return binaries.folder / name


def _build(folder: Path, print_line: PrintLine) -> Binaries:
    missing = [package for program, package in _NEEDED.items() if shutil.which(program) is None]
    if missing:
        raise ClusterError(f"cannot build llama.cpp: install {' '.join(missing)} and repeat")
    free = shutil.disk_usage(folder.parent).free
    if free < _NEEDED_BYTES:
        raise ClusterError(
            f"not enough disk space to build llama.cpp: {free / 1e9:.1f} GB free on the disk of "
            f"{folder.parent}, {_NEEDED_BYTES / 1e9:.1f} GB needed. Free some, or point XDG_CACHE_HOME to a "
            "larger disk."
        )
    started = time.monotonic()
    with whole_set(folder, versions(), run(["c++", "--version"]).splitlines()[0]) as partial:
        work = partial / "work"
        print_line(f"fetching the sources of llama.cpp, of {versions()['llama-cpp-python']}")
        sources = _sources(work)
        print_line(f"building {', '.join(PROGRAMS)}: about {max(1, round(8 / (os.cpu_count() or 1)))} min on idle CPUs")
        options = [f"-D{name}={value}" for name, value in _OPTIONS.items()]
        run(["cmake", "-G", "Ninja", "-S", str(sources), "-B", str(work / "build"), *options])
        run(["cmake", "--build", str(work / "build"), "--target", *PROGRAMS])
        for program in PROGRAMS:
            shutil.copy(work / "build/bin" / program, partial / "bin")
        _write_models(work, partial)
    print_line(f"built {', '.join(PROGRAMS)} in {time.monotonic() - started:.0f} s ({folder})")
    return Binaries(folder)


def versions() -> dict[str, str]:
    """Return the version of each package that the build is made of."""
    name, _is, version = _GGUF_FROM_PYPI.partition("==")
    return {**pinned(REQUIREMENTS), name: version}


def _sources(work: Path) -> Path:
    """Return the folder of llama.cpp's sources, which the source distribution of its Python package contains."""
    locked = ["--require-hashes", "--requirement", str(REQUIREMENTS)]
    pip("download", "--no-deps", "--no-binary", "llama-cpp-python", "--dest", str(work), *locked)
    (archive,) = work.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        # Python 3.11.2 has no filters; the archive is pinned by its hash
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(work)  # noqa: S202
    (sources,) = work.glob("*/vendor/llama.cpp")
    return sources


def _write_models(work: Path, folder: Path) -> None:
    packages = work / "packages"
    pip("install", "--target", str(packages), _GGUF_FROM_PYPI)
    for name, size in _SIZES.items():
        command = [sys.executable, str(SOURCES / "random_model.py"), str(folder / name), *map(str, size)]
        run(command, {"PYTHONPATH": str(packages)})
