"""What programs print: text of others commands neither a terminal, nor a CI system, nor a Markdown page.

Names, statuses and messages come from files and servers that anybody may have written. They reach a reader at three
edges: streams (`safe_streams`, which wraps stdout and stderr of a program), drawings of rich (`Drawn`), and Markdown
(`one_line`, within what escapes markup). All of them spell control characters out by one function, `printable`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO, cast

_ESCAPED = re.compile(
    # control characters but for tab and line feed; ESC begins commands of a terminal, so does U+009B
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    # what is not seen, or turns the direction of what follows
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    # halves of characters, which no UTF-8 can hold
    "\ud800-\udfff]"
)
_CI_COMMAND = re.compile(
    # ::NAME::VALUE of GitHub, at the beginning of a line; ##[…] of GitHub, ##vso[…] of Azure, ##teamcity[…], anywhere
    r"^[^\S\n]*:(?=:[^:\n]+::)|#(?=#(?:\[|vso\[|teamcity\[))",
    re.MULTILINE,
)


def printable(text: str) -> str:
    r"""A text that is only text: control characters become `\u001b`, and so does one of each command of a CI system.

    JSON keeps its meaning. Lines stay lines: `one_line` is for texts that must not begin one.
    """
    shown = _ESCAPED.sub(lambda found: _spelled(found[0]), text.replace("\r\n", "\n"))
    return _CI_COMMAND.sub(lambda found: found[0][:-1] + _spelled(found[0][-1]), shown)


def one_line(text: object) -> str:
    """A text as a part of a line: `printable`, with blanks in place of line ends."""
    return printable(" ".join(str(text).splitlines()))


def _spelled(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


class Drawn:
    """What rich draws, without the control characters of the texts in it; its own stay."""

    def __init__(self, renderable: Any) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        for segment in console.render(self._renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


class OutputError(OSError):
    """The output cannot be written, as on a full disk."""

    exit_code = 1

    def __str__(self) -> str:
        return f"cannot write the output: {self.strerror}"


class _SafeStream:
    """A stream that writes texts as `printable` has them, redacted; a reader that has left is no error."""

    def __init__(self, stream: TextIO, redact: Callable[[str], str], *, lossy: bool) -> None:
        self.drawn = stream
        self._redact = redact
        self._lossy = lossy
        self._lost: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text. Raises OutputError where the stream is none of messages and cannot be written."""
        with self._survived():
            self.drawn.write(printable(self._redact(text)))
        return len(text)

    def flush(self) -> None:
        """Flush. Raises OutputError as `write`."""
        with self._survived():
            self.drawn.flush()

    @contextlib.contextmanager
    def _survived(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # what is buffered would be tried again when Python ends
            discard(self.drawn)
            if error.errno != errno.EPIPE and not self._lossy:
                self._lost = error
        # again and again: click tries streams out and forgets what that raises
        if self._lost is not None:
            raise OutputError(self._lost.errno, self._lost.strerror) from self._lost

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else to the wrapped stream."""
        return getattr(self.drawn, name)


@contextlib.contextmanager
def safe_streams(redact: Callable[[str], str]) -> Iterator[None]:
    """Make stdout and stderr of this process safe in this block, also where the user closed them.

    Args:
        redact: hides the credentials in a text.
    """
    _open_closed_descriptors()
    out, error = sys.stdout, sys.stderr
    with open(os.devnull, "w", encoding="utf-8") as nothing:  # noqa: PTH123 - no path of the user's
        sys.stdout = cast(TextIO, _SafeStream(out or nothing, redact, lossy=False))
        sys.stderr = cast(TextIO, _SafeStream(error or nothing, redact, lossy=True))
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, error


def _open_closed_descriptors() -> None:
    """See to it that 0, 1 and 2 are open: else the next file that is opened would be the stdout of child processes."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # the lowest that is free, so this one
            os.open(os.devnull, os.O_RDWR)


def discard(stream: TextIO) -> None:
    """Give up a stream: what it still holds and what follows goes nowhere."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)


def drawing_stream() -> TextIO:
    """The stdout for rich: a terminal itself, on which it may draw what is `Drawn`; else the safe stream."""
    return cast(TextIO, getattr(sys.stdout, "drawn", sys.stdout)) if sys.stdout.isatty() else sys.stdout


def is_working_directory_gone() -> bool:
    """Whether the working directory was deleted."""
    try:
        Path.cwd()
    except OSError:
        return True
    return False
