"""What an image contains of this machine's files: a Python, or programs with a shell, tools and libraries."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path

from perflab.errors import ClusterError
from perflab.worker.images import ARGOEXEC, PAUSE, PYTHON, Image
from perflab.worker.requirements import find

_ELF = b"\x7fELF"
# not needed at run time, or written again by each Python
_LEFT_OUT = {
    *("__pycache__", "site-packages", "dist-packages"),
    *("ensurepip", "idlelib", "lib2to3", "test", "tests", "tkinter", "turtledemo"),
}
# what users run in a pod, and what copies files from and to it
TOOLS = (
    *("sh", "cat", "cp", "echo", "env", "false", "find", "ls"),
    *("mkdir", "mv", "rm", "sleep", "tail", "tar", "test", "true"),
)
# loaded by name when a program needs them, so no program is linked with them
_LOADED_LATER = (
    *("libgcc_s.so.1", "libstdc++.so.6", "libnss_dns.so.2", "libnss_files.so.2"),
    # of Python packages that were linked elsewhere
    *("libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libz.so.1"),
)
_LOCALE = Path("/usr/lib/locale/C.utf8")
_TEXTS = {
    "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "/etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "/etc/nsswitch.conf": "hosts: files dns\n",
}


def of_each_lab(programs: Path) -> list[Image]:
    """Return the images of each lab with a real node, whose programs are in the folder *programs*."""
    return [pause(programs / "pause"), python()]


def pause(program: Path) -> Image:
    """Return the image of the container that holds the namespaces of a pod."""
    return Image(PAUSE, files={"/pause": program}, command=("/pause",))


def argoexec(program: Path) -> Image:
    """Return the image of the containers by which Argo Workflows runs a step; *program* needs no libraries."""
    return Image(
        ARGOEXEC,
        files={"/usr/local/bin/argoexec": program},
        texts=_TEXTS,
        folders=("/tmp",),  # noqa: S108  of the image
        command=("argoexec",),
    )


def python() -> Image:
    """Return an image with this machine's Python and its standard library, a shell and a few tools."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    interpreter = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
    library = Path(sysconfig.get_path("stdlib", vars={"installed_base": sys.base_prefix}))
    files = {f"/usr/local/bin/{version}": interpreter, **folder(library, f"/usr/local/lib/{version}")}
    image = Image(
        PYTHON,
        files={**files, **(folder(_LOCALE, str(_LOCALE)) if _LOCALE.exists() else {})},
        links=dict.fromkeys(("/usr/local/bin/python", "/usr/local/bin/python3"), version),
        command=("python3",),
        environment={"LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"},
    )
    return with_system(image)


def with_system(image: Image, library_folders: Iterable[Path] = (), tools: Iterable[str] = TOOLS) -> Image:
    """Return the image with a few tools, a shell first of all, and the libraries that its programs need.

    A library comes from *library_folders*, or else from this machine.

    Raises:
        ClusterError: A library is missing.
    """
    found = {f"/usr/bin/{tool}": Path(path).resolve() for tool in tools if (path := find(tool))}
    files = {**found, **image.files}
    return dataclasses.replace(
        image,
        files={**files, **_libraries(files.values(), library_folders)},
        texts={**_TEXTS, **image.texts},
        links={"/bin/sh": "/usr/bin/sh", **image.links},
        folders=(*image.folders, "/tmp"),  # noqa: S108  of the image
    )


def folder(source: Path, target: str) -> dict[str, Path]:
    """Return path in the image → file of each file in a folder, without what programs do not need."""
    found = {}
    for path in sorted(source.rglob("*")):
        inside = path.relative_to(source)
        if path.is_file() and path.suffix != ".a" and not _is_left_out(inside):
            found[f"{target}/{inside}"] = path.resolve()
    return found


def _is_left_out(path: Path) -> bool:
    return any(part in _LEFT_OUT or part.startswith("config-") for part in path.parts)


def _libraries(files: Iterable[Path], folders: Iterable[Path]) -> dict[str, Path]:
    """Return path in the image → file of each library that these programs need, and of the program that loads them."""
    programs = [path for path in files if _is_elf(path)]
    found = linked(_ldd(programs, folders))
    loader = {name: path for name, path in found.items() if name.startswith("/")}
    libraries = {name: path for name, path in found.items() if name not in loader}
    # where the loader looks without a configuration
    folder = libraries["libc.so.6"].parent
    libraries |= {name: folder / name for name in _LOADED_LATER if (folder / name).exists()}
    missing = linked(_ldd([path.resolve() for path in libraries.values()], folders))
    libraries = {**{name: path for name, path in missing.items() if not name.startswith("/")}, **libraries}
    targets = {**loader, **{f"{folder}/{name}": path for name, path in libraries.items()}}
    return {target: path.resolve() for target, path in targets.items()}


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_ELF)) == _ELF


def _ldd(programs: Iterable[Path], folders: Iterable[Path]) -> str:
    # it fails for programs that need no libraries
    done = subprocess.run(  # noqa: S603
        [find("ldd") or "ldd", *map(str, programs)],
        env={**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(map(str, folders))},
        capture_output=True,
        text=True,
        check=False,
    )
    missing = re.findall(r"^\s+(\S+) => not found$", done.stdout, re.MULTILINE)
    if missing:
        raise ClusterError(
            f"an image needs libraries that this machine does not have: {', '.join(sorted(set(missing)))}"
        )
    return done.stdout


def linked(text: str) -> Mapping[str, Path]:
    """Return library → file of the output of `ldd`; the loader's key is its own path."""
    named = re.findall(r"^\s+(\S+) => (/\S+) \(0x", text, re.MULTILINE)
    loader = re.findall(r"^\s+(/\S+) \(0x", text, re.MULTILINE)
    return {name: Path(path) for name, path in [*named, *((path, path) for path in loader)]}
