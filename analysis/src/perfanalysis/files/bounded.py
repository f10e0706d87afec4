"""Read files of a run within bounds: reading never blocks on a pipe and never exhausts the memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

BLOCK_BYTES = 1 << 20
LONGEST_LINE = 4 << 20
"""Bytes of a line; lines of a run have some hundreds."""
LARGEST_DOCUMENT = 64 << 20
"""Bytes of a document that is read in one piece."""
LARGEST_LIST = 2 << 30
"""Bytes of a list of objects or samples; the list of all pods of a large cluster has some hundred million."""


def opened(path: Path) -> BinaryIO:
    """Open a file for reading. Raises OSError if it is not a regular file: reading a pipe would block."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is not a file")
    return os.fdopen(descriptor, "rb")


def content(path: Path, most: int = LARGEST_DOCUMENT) -> bytes:
    """Return all bytes of a file. Raises OSError if it is not a regular file or is larger than *most*."""
    with opened(path) as stream:
        read = stream.read(most + 1)
    if len(read) > most:
        raise OSError(f"it is larger than {most >> 20} MiB")
    return read


class Blocks:
    """Reads the first bytes of a file in blocks of complete lines; the last line may have no line end.

    Lines that are too long are left out and counted.
    """

    def __init__(self, path: Path, size: int) -> None:
        self.too_long = 0
        self._path = path
        self._size = size

    def __iter__(self) -> Iterator[bytes]:
        """Yield the blocks; the count belongs to the last iteration."""
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
