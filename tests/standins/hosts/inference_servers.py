"""Inference servers for a machine of the tests.

``python -m tests.standins.hosts.inference_servers real|stand-ins FOLDER`` puts them into FOLDER. Stand-ins print that
they are stand-ins. The real ones, of the deep tests, are a llama.cpp with a tiny model, the ramalama of PyPI without
containers, and a meson and a CMake; ollama and macOS' powermetrics are always stand-ins.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from perflab.building.llama import MODEL, PROGRAMS, ensure_llama_cpp, model
from perflab.files import places

from tests.standins.hosts.machine import libraries

PROJECT = Path(__file__).resolve().parents[3]
STAND_INS = Path(__file__).parent / "programs"
RAMALAMA = "ramalama==0.25.0"
# runs with the machine's own Python, which has none of the packages
_RUN_RAMALAMA = """#!/bin/sh
PYTHONPATH={folder}/packages exec /usr/bin/python3 -c \
'import sys; from ramalama.cli import main; sys.exit(main())' "$@"
"""
_SOURCES = {
    "meson.build": "project('virglrenderer', 'c')\nstatic_library('virglrenderer', 'a.c')\n",
    "a.c": "int virglrenderer(void) { return 0; }\n",
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.18)
project(llama C)
foreach(name llama-server llama-bench)
  add_executable(${name} main.c)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endforeach()
""",
    "main.c": "int main(void) { return 0; }\n",
}


def copy_stand_ins(folder: Path) -> None:
    """Copy all stand-ins, and a file in place of a model, to a folder that the machine's user can read."""
    shutil.copytree(STAND_INS, folder)
    (folder / MODEL).write_text("a stand-in for a model\n")


def copy_llama_cpp(folder: Path) -> None:
    """Copy the real programs and the model into *folder*; missing ones are built, which takes minutes."""
    built = ensure_llama_cpp(places.cache_root(), lambda text: print(text, file=sys.stderr))
    folder.mkdir(exist_ok=True)
    for program in PROGRAMS:
        shutil.copy(built.program(program), folder)
    shutil.copy(model(built), folder / MODEL)


def copy_image_sources(programs: Path, folder: Path) -> None:
    """Write the sources of an image with the real programs: programs, libraries and a Containerfile."""
    (folder / "root/usr/bin").mkdir(parents=True)
    for program in PROGRAMS:
        shutil.copy(programs / program, folder / "root/usr/bin")
        for library in libraries(programs / program):
            place = folder / "root" / library.relative_to("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, place)
    (folder / "Containerfile").write_text("FROM scratch\nCOPY root /\n")


def put(folder: Path, *, real: bool) -> None:
    """Put all of them into *folder*, with substitutes for a model hub, sources and a virtual GPU."""
    copy_stand_ins(folder)
    if real:
        copy_llama_cpp(folder)
        put_ramalama(folder)
        _put_meson(folder)
    hub = folder / "hub/tests/tiny/resolve/main"
    hub.mkdir(parents=True)
    shutil.copy(folder / MODEL, hub)
    (folder / "sources").mkdir()
    for name, text in _SOURCES.items():
        (folder / "sources" / name).write_text(text)
    # in the kernel's format
    (folder / "host-visible-mm").write_text("0x0-0x1000: 4096: used\ntotal: 8192, used 4096 free 4096\n")


def put_ramalama(folder: Path) -> None:
    """Put the ramalama of PyPI into *folder*."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # for the machine's own Python, which may be another version: no compiled packages
    packages = [RAMALAMA, "argcomplete", "jinja2", "pyyaml"]
    subprocess.run([*pip, "--target", str(folder / "packages"), *packages], check=True)
    (folder / "ramalama").write_text(_RUN_RAMALAMA.replace("{folder}", str(folder)))
    (folder / "ramalama").chmod(0o755)


def _put_meson(folder: Path) -> None:
    names = ("meson", "ninja", "cmake")
    install = ["sh", str(PROJECT / "tests/scripts/install_debian.sh"), "meson ninja-build gcc make cmake", *names]
    subprocess.run(install, check=True)
    for name in names:
        (folder / name).unlink()


if __name__ == "__main__":
    put(Path(sys.argv[2]), real={"real": True, "stand-ins": False}[sys.argv[1]])
