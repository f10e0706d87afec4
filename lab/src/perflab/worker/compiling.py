"""Python modules in the compiled form of an image, the same bytes each time, whenever their files are written."""

from __future__ import annotations

import importlib.util
import marshal
import warnings
from pathlib import PurePosixPath

MAGIC = importlib.util.MAGIC_NUMBER.hex()
# PEP 552: the module is checked by its hash, and Python does not check it
_UNCHECKED_HASH = (1).to_bytes(4, "little")
# later versions write references between objects, which depend on what else the process holds
_FORMAT = 2


def is_module(path: str) -> bool:
    """Return whether a file is a Python module."""
    return path.endswith(".py")


def path(module: str) -> str:
    """Return where Python looks for the compiled form of a module."""
    place = PurePosixPath(importlib.util.cache_from_source(module))
    return str(place)


def compiled(module: str, source: bytes) -> bytes | None:
    """Return the compiled form of a module with this path; None if it is not Python of this version."""
    try:
        with warnings.catch_warnings(action="ignore"):
            code = compile(source, module, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        # a template, or a test of an error
        return None
    digest = importlib.util.source_hash(source)
    return importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH + digest + marshal.dumps(code, _FORMAT)
