"""PNG files of pictures that come in strips."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
BITS = 8
COLOUR_TYPES = {3: 2, 4: 6}
"""The format's number for pixels of so many parts: red, green and blue, and of opacity too."""
UNFILTERED = 0
"""Before each row. Charts are mostly of one colour: to try filters takes longer than all else, and saves nothing."""
COMPRESSION = 2
"""Of nine levels. Higher ones take longer and save little."""


def png_file(strips: Iterable[NDArray[np.uint8]]) -> bytes:
    """A PNG file's content, of strips from top to bottom, all of one width: red, green and blue, or opacity too."""
    packer = zlib.compressobj(COMPRESSION)
    packed = bytearray()
    height = width = parts = 0
    for strip in strips:
        rows, width, parts = strip.shape
        lines = np.full((rows, 1 + width * parts), UNFILTERED, dtype=np.uint8)
        for part in range(parts):
            lines[:, 1 + part :: parts] = strip[:, :, part]
        packed += packer.compress(lines.data)
        height += rows
    packed += packer.flush()
    header = struct.pack(">IIBBBBB", width, height, BITS, COLOUR_TYPES[parts], 0, 0, 0)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", bytes(packed)) + _chunk(b"IEND", b"")


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
