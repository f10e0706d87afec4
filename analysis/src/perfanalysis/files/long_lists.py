"""A JSON document with lists too long for memory: their objects block by block, everything else as a whole.

numpy finds the boundaries of strings, objects and lists, one block of the file at a time; the caller decodes objects,
many at a time. In the document, a number identifies each such list.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perfanalysis.files.bounded import LARGEST_DOCUMENT, opened
from perfanalysis.files.documents import load_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_BYTES = 4 << 20
MOST_PENDING = 32 << 20
"""Bytes of one object, or of the document between two brackets."""
QUOTE, OPEN, CLOSE = 1, 2, 3
CODES = bytes({ord('"'): QUOTE}.get(byte, OPEN * (byte in b"{[") + CLOSE * (byte in b"}]")) for byte in range(256))
KEY = re.compile(rb'"([^"\\]{1,64})"\s*:\s*\Z')
BETWEEN = b" \t\r\n,"
TORN = "it is truncated: its writer was stopped, or the copy is incomplete"


State = tuple[bytes, int, bool]
"""The unused rest of a block, the depth at its beginning, and whether it is in one of the lists."""


@dataclass(frozen=True)
class Structure:
    """Brackets outside of strings: their positions in a block, the depth after each, and which of them open."""

    at: NDArray[np.intp]
    depth: NDArray[np.intp]
    opens: NDArray[np.bool_]


def structure_of(block: bytes, depth: int) -> Structure:
    """Return the brackets of a block that begins outside of strings, at a given depth."""
    # pairs of backslashes first, from the left as JSON reads them: the rest of a run escapes the quote after it
    plain = block.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    codes = np.frombuffer(plain.translate(CODES), dtype=np.uint8)
    places = np.flatnonzero(codes != 0)
    kinds = codes[places]
    brackets = (kinds != QUOTE) & (np.cumsum(kinds == QUOTE) % 2 == 0)
    opens = kinds[brackets] == OPEN
    return Structure(places[brackets], depth + np.cumsum(np.where(opens, 1, -1)), opens)


@dataclass
class LongLists:
    """The lists called `names` at a given depth of a document, 2 for those of the outermost object.

    A document that is itself a list has the depth 1 and no names.

    `objects` yields the number of a list and some of its objects, as the text of a JSON list; at its end, `document` is
    everything else, with a list of its number in place of each of the lists. It raises ValueError for invalid JSON,
    OSError for a file that cannot be read.
    """

    path: Path
    names: frozenset[str]
    depth: int
    document: Any = None
    _rest: list[bytes] = field(default_factory=list)
    _lists: int = 0
    _kept: int = 0

    def objects(self) -> Iterator[tuple[int, bytes]]:
        """Yield all objects of these lists, in blocks of some MB."""
        self._rest, self._lists, self._kept = [], 0, 0
        pending, depth, inside = b"", 0, False
        with opened(self.path) as stream:
            while piece := stream.read(BLOCK_BYTES):
                block = pending + piece
                if len(block) > MOST_PENDING:
                    raise ValueError(f"a single value is larger than {MOST_PENDING >> 20} MiB")
                pending, depth, inside = yield from self._of_block(block, depth, inside)
        if inside or depth:
            raise ValueError(TORN)
        self.document = load_json(b"".join([*self._rest, pending]))

    def _of_block(self, block: bytes, depth: int, inside: bool) -> Generator[tuple[int, bytes], None, State]:
        """Yield the objects that end in a block, which begins outside of strings."""
        found = structure_of(block, depth)
        if not len(found.at):
            return block, depth, inside
        cursor, event = 0, 0
        candidates = np.flatnonzero(found.opens & (found.depth == self.depth))
        objects = np.flatnonzero(~found.opens & (found.depth == self.depth))
        closings = np.flatnonzero(~found.opens & (found.depth == self.depth - 1))
        while True:
            if not inside:
                begun = next(
                    (one for one in candidates[candidates >= event] if self._named(block, found.at[one])), None
                )
                if begun is None:
                    end = int(found.at[-1]) + 1
                    self._keep(block[cursor:end])
                    return block[end:], int(found.depth[-1]), False
                end = int(found.at[begun]) + 1
                self._keep(block[cursor:end])
                cursor, event, inside = end, int(begun) + 1, True
            closing = next(iter(closings[closings >= event]), None)
            own = objects[(objects >= event) & (objects < (len(found.at) if closing is None else closing))]
            end = int(found.at[own[-1]]) + 1 if len(own) else cursor
            if len(own):
                yield self._lists, b"[" + block[cursor:end].lstrip(BETWEEN) + b"]"
            if closing is None:
                return block[end:], self.depth, True
            if block[end : found.at[closing]].strip(BETWEEN):
                raise ValueError(f"the list {self._lists} has entries that are not objects")
            self._keep(str(self._lists).encode())
            self._lists += 1
            cursor, event, inside = int(found.at[closing]), int(closing), False

    def _named(self, block: bytes, at: int) -> bool:
        if self.depth == 1:
            return block[at : at + 1] == b"["
        # a key is always between two structural characters
        before = KEY.search(block, max(0, at - 100), at) if block[at : at + 1] == b"[" else None
        return before is not None and before[1].decode("utf-8", "replace") in self.names

    def _keep(self, part: bytes) -> None:
        self._rest.append(part)
        self._kept += len(part)
        if self._kept > LARGEST_DOCUMENT:
            raise ValueError(f"it is larger than {LARGEST_DOCUMENT >> 20} MiB without its lists")
