"""What a run left, read within bounds: whatever stands there, reading it neither waits nor fills the memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

BLOCK_BYTES = 1 << 20
LONGEST_LINE = 4 << 20
"""Bytes of a line; the rows of a run have some hundreds."""
LARGEST_DOCUMENT = 64 << 20
"""Bytes of a document that is read at once."""
LARGEST_LIST = 2 << 30
"""Bytes of a list of objects, or of samples; those of all pods of a large cluster are some hundred millions."""


def opened(path: Path) -> BinaryIO:
    """A file, opened for reading. Raises OSError for all that is none: a pipe would be waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is no file")
    return os.fdopen(descriptor, "rb")


def content(path: Path, most: int = LARGEST_DOCUMENT) -> bytes:
    """All bytes of a file. Raises OSError when it is none, or has more than so many."""
    with opened(path) as stream:
        read = stream.read(most + 1)
    if len(read) > most:
        raise OSError(f"it has more than {most >> 20} MiB")
    return read


class Blocks:
    """The first bytes of a file in blocks that end with a line, the last of which may lack its line end.

    Lines that are too long are left out and counted.
    """

    def __init__(self, path: Path, size: int) -> None:
        self.too_long = 0
        self._path = path
        self._size = size

    def __iter__(self) -> Iterator[bytes]:
        """Read them; the count is that of the last time."""
        self.too_long = 0
        rest, skipping, left = b"", False, self._size
        with opened(self._path) as stream:
            while left > 0 and (piece := stream.read(min(BLOCK_BYTES, left))):
                left -= len(piece)
                if skipping:
                    _, end_of_line, piece = piece.partition(b"\n")
                    skipping = not end_of_line
                end = piece.rfind(b"\n") + 1
                if end:
                    yield rest + piece[:end]
                    rest = b""
                rest += piece[end:]
                if len(rest) > LONGEST_LINE:
                    self.too_long += 1
                    rest, skipping = b"", True
        if rest:
            yield rest
