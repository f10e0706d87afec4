"""A parser reads declared files only: the cache knows of no others, and would go on with what has changed since.

`Source` refuses other files. Python tells of each file that is opened or listed, so that one which a parser opens by
itself is an error too. (What a library in C opens by itself stays unseen.)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfanalysis.errors import UsageError

if TYPE_CHECKING:
    from perfanalysis.files.source import Source

LISTED = frozenset(("os.listdir", "os.scandir"))


class Watch:
    """What a parser opens and lists in the directory of its recording."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.root = str(source.place.directory.resolve())
        self.undeclared: str | None = None

    def saw(self, event: str, path: object) -> None:
        """Remember and refuse a file of the recording that is not declared."""
        if not isinstance(path, str | bytes | os.PathLike):
            return
        full = os.path.realpath(os.fsdecode(path))
        if full != self.root and not full.startswith(f"{self.root}{os.sep}"):
            return
        name = os.path.relpath(full, self.root)
        given = os.path.relpath(Path(os.fsdecode(path)).absolute(), self.source.place.directory)
        if event == "open" and (self.source.declares(name) or self.source.declares(given)):
            return
        self.undeclared = self.undeclared or name
        raise self.error()

    def error(self) -> UsageError:
        """What to tell whoever wrote the parser."""
        return self.source.not_declared(str(self.undeclared))


_watch: ContextVar[Watch | None] = ContextVar("the parser at work", default=None)


@contextmanager
def only_declared(source: Source) -> Iterator[None]:
    """Within it, opening or listing what the source does not declare raises UsageError, now or at the end."""
    _listen()
    watch = Watch(source)
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)
    if watch.undeclared is not None:
        raise watch.error()


@contextmanager
def unwatched() -> Iterator[None]:
    """Within it, whoever asks is the source itself."""
    token = _watch.set(None)
    try:
        yield
    finally:
        _watch.reset(token)


@cache
def _listen() -> None:
    """Ask Python to be told; that cannot be taken back, so once."""
    sys.addaudithook(_told)


def _told(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" and event not in LISTED:
        return
    watch = _watch.get()
    if watch is not None and arguments:
        watch.saw(event, arguments[0])
