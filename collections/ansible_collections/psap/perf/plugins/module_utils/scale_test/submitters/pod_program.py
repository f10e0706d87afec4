"""The program of a submitter pod: this collection's code, which the coordinator sends, so that both are the same."""

from __future__ import annotations

import functools
import io
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

_HERE = Path(__file__).resolve()
_COLLECTIONS = next(parent for parent in _HERE.parents if parent.name == "ansible_collections")
_MODULE_UTILS = next(parent for parent in _HERE.parents if parent.name == "module_utils")
_CHILD_PROGRAM = (_MODULE_UTILS / "base" / "child_process.py").relative_to(_COLLECTIONS.parent)
_AGAIN = """
import importlib, runpy, sys
runpy.run_path(sys.argv[1])["activate"]()
importlib.import_module(sys.argv[2]).main(*sys.argv[3:])
"""
# reads exactly the code: the rest of the standard input belongs to the program
_START = """
import io, os, sys, tempfile, zipfile
def read(size):
    data = b""
    while len(data) < size and (part := os.read(0, size - len(data))):
        data += part
    return data
size = b""
while not size.endswith(b"\\n"):
    size += read(1) or sys.exit("no code was sent")
folder = tempfile.mkdtemp()
zipfile.ZipFile(io.BytesIO(read(int(size)))).extractall(folder)
sys.argv[1] = os.path.join(folder, sys.argv[1])
"""


def start_command(module: str, *arguments: str) -> Sequence[str]:
    """Return the command line that reads the code and calls ``main`` of *module*, a full name."""
    return ["python3", "-c", _START + _AGAIN, str(_CHILD_PROGRAM), module, *arguments]


def run_again(module: str, *arguments: str) -> Sequence[str]:
    """Return the command line that calls ``main`` of *module* in a process with the code that this one has."""
    return [sys.executable, "-c", _AGAIN, str(_COLLECTIONS.parent / _CHILD_PROGRAM), module, *arguments]


@functools.cache
def code() -> bytes:
    """Return what the command reads first: the size of the code as a line, and the code."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(_MODULE_UTILS.rglob("*.py")):
            target.write(path, path.relative_to(_COLLECTIONS.parent))
    content = archive.getvalue()
    return f"{len(content)}\n".encode() + content
