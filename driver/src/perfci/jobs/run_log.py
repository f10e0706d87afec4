"""The copy of a job's standard output and standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from perfanalysis.output import printable

RUN_LOG = "run.log"


class _Both:
    """A stream that is copied to a file line by line, so that a kill loses no complete line."""

    def __init__(self, stream: TextIO, file: TextIO, redact: Callable[[str], str]) -> None:
        self._stream = stream
        self._file = file
        self._redact = redact
        self._line = ""

    def write(self, text: str) -> int:
        """Write to both; an error of the file is ignored."""
        self._line += text
        *lines, self._line = self._line.split("\n")
        with contextlib.suppress(OSError, ValueError):
            for line in lines:
                self._file.write(printable(hide(self._redact(line))) + "\n")
            self._file.flush()
        return self._stream.write(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Return False, so that a job prints lines instead of drawing."""
        return False

    def __getattr__(self, name: str) -> object:
        """Delegate everything else to the wrapped stream."""
        return getattr(self._stream, name)


@contextlib.contextmanager
def copy_output(path: Path, redact: Callable[[str], str] = lambda text: text) -> Iterator[None]:
    """Append the output of this block to a file."""
    file = path.open("a", encoding="utf-8", errors="backslashreplace")
    out, error = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Both(out, file, redact), _Both(error, file, redact)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            # the last line may be incomplete
            if isinstance(stream, _Both) and stream._line:
                stream.write("\n")
        sys.stdout, sys.stderr = out, error
        # closing writes the buffer, which fails on a full disk
        with contextlib.suppress(OSError):
            file.close()
