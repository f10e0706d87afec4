"""A JSON document of which some lists are too long to be held: their objects block by block, the rest as a whole.

Where strings, objects and lists begin and end is found with numpy, a block of the file at a time; objects are decoded
by whoever asked for them, many at once. Of the document each such list is left with one number, by which it is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
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
TORN = "it ends in the middle, as of a program that was stopped or a copy that is not whole"


State = tuple[bytes, int, bool]
"""What of a block is not used up, how deep that begins, and whether in one of the lists."""


@dataclass(frozen=True)
class Structure:
    """Brackets outside of strings: their places in a block, how deep it is behind each, and which of them open."""

    at: NDArray[np.intp]
    depth: NDArray[np.intp]
    opens: NDArray[np.bool_]


def structure_of(block: bytes, depth: int) -> Structure:
    """The brackets of a block that begins outside of strings, so deep."""
    # pairs of backslashes first, from the left as JSON reads them: what is left of a run escapes the quote behind it
    plain = block.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    codes = np.frombuffer(plain.translate(CODES), dtype=np.uint8)
    places = np.flatnonzero(codes != 0)
    kinds = codes[places]
    brackets = (kinds != QUOTE) & (np.cumsum(kinds == QUOTE) % 2 == 0)
    opens = kinds[brackets] == OPEN
    return Structure(places[brackets], depth + np.cumsum(np.where(opens, 1, -1)), opens)


@dataclass
class LongLists:
    """The lists called `names` that are so deep in a document, 2 for those of the outermost object.

    `objects` gives the number of a list and some of its objects, as the text of a JSON list; once it is at its end,
    `document` is the rest. Both raise ValueError for what is no JSON, OSError for what cannot be read.
    """

    path: Path
    names: frozenset[str]
    depth: int
    _rest: list[bytes] = field(default_factory=list)
    _lists: int = 0
    _kept: int = 0

    def objects(self) -> Iterator[tuple[int, bytes]]:
        """All objects of these lists, in blocks of some MB."""
        self._rest, self._lists, self._kept = [], 0, 0
        pending, depth, inside = b"", 0, False
        with opened(self.path) as stream:
            while piece := stream.read(BLOCK_BYTES):
                block = pending + piece
                if len(block) > MOST_PENDING:
                    raise ValueError(f"more than {MOST_PENDING >> 20} MiB of it are one value")
                pending, depth, inside = yield from self._of_block(block, depth, inside)
        if inside or depth:
            raise ValueError(TORN)
        self._rest.append(pending)

    def _of_block(self, block: bytes, depth: int, inside: bool) -> Generator[tuple[int, bytes], None, State]:
        """The objects that end in a block, which begins outside of strings."""
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
                raise ValueError(f"the list {self._lists} holds what are no objects")
            self._keep(str(self._lists).encode())
            self._lists += 1
            cursor, event, inside = int(found.at[closing]), int(closing), False

    def _named(self, block: bytes, at: int) -> bool:
        # a key is never farther away than the structure before it
        before = KEY.search(block, max(0, at - 100), at) if block[at : at + 1] == b"[" else None
        return before is not None and before[1].decode("utf-8", "replace") in self.names

    def _keep(self, part: bytes) -> None:
        self._rest.append(part)
        self._kept += len(part)
        if self._kept > LARGEST_DOCUMENT:
            raise ValueError(f"it has more than {LARGEST_DOCUMENT >> 20} MiB without its lists")

    @property
    def document(self) -> Any:
        """The document, each of the lists as a list of its number."""
        return load_json(b"".join(self._rest))


def decoded(text: bytes, decode: Callable[[bytes], list[Any]], one: Callable[[Any], Any]) -> tuple[list[Any], int]:
    """The objects of a JSON list, and how many could not be taken.

    `decode` takes them all at once; where that fails, `one` takes each by itself. Both raise ValueError.
    """
    try:
        return decode(text), 0
    except ValueError:
        taken, bad = [], 0
        for value in load_json(text):
            try:
                taken.append(one(value))
            except ValueError:
                bad += 1
        return taken, bad
