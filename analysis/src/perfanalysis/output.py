"""Safe output: text from files and servers controls neither a terminal, nor a CI system, nor a Markdown page.

Anyone may have written the names, statuses and messages. They reach a reader in three ways: streams (`safe_streams`,
which wraps stdout and stderr of a program), drawings of rich (`Drawn`), and Markdown (`one_line`, inside functions that
escape markup). All of them escape control characters with one function, `printable`.
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
    # control characters except tab and line feed; ESC begins commands of a terminal, so does U+009B
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    # invisible characters, and those that change the direction of the text after them
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
    # surrogates, which UTF-8 cannot encode
    "\ud800-\udfff]"
)
_CI_COMMAND = re.compile(
    # ::NAME::VALUE of GitHub, at the beginning of a line; ##[…] of GitHub, ##vso[…] of Azure, ##teamcity[…], anywhere
    r"^[^\S\n]*:(?=:[^:\n]+::)|#(?=#(?:\[|vso\[|teamcity\[))",
    re.MULTILINE,
)


def printable(text: str) -> str:
    r"""Return a text without effects: control characters become `\u001b`, and so does one character of each CI command.

    JSON keeps its meaning. Line ends stay: use `one_line` for texts that must not start a line.
    """
    shown = _ESCAPED.sub(lambda found: _spelled(found[0]), text.replace("\r\n", "\n"))
    return _CI_COMMAND.sub(lambda found: found[0][:-1] + _spelled(found[0][-1]), shown)


def one_line(text: object) -> str:
    """Return a text as a part of a line: `printable`, with blanks in place of line ends."""
    return printable(" ".join(str(text).splitlines()))


def _spelled(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


class Drawn:
    """Output of rich without the control characters of the texts in it; rich's own control characters stay."""

    def __init__(self, renderable: Any) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        for segment in console.render(self._renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


class OutputError(OSError):
    """The output cannot be written, for example on a full disk."""

    exit_code = 1

    def __str__(self) -> str:
        return f"cannot write the output: {self.strerror}"


class _SafeStream:
    """A stream that writes texts redacted and `printable`; a closed reader is not an error."""

    def __init__(self, stream: TextIO, redact: Callable[[str], str], *, lossy: bool) -> None:
        self.drawn = stream
        self._redact = redact
        self._lossy = lossy
        self._lost: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text. Raises OutputError if the stream cannot be written, unless it is stderr."""
        with self._survived():
            self.drawn.write(printable(self._redact(text)))
        return len(text)

    def flush(self) -> None:
        """Flush. Raises OutputError as `write` does."""
        with self._survived():
            self.drawn.flush()

    @contextlib.contextmanager
    def _survived(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # Python would write the buffered text again at its end
            discard(self.drawn)
            if error.errno != errno.EPIPE and not self._lossy:
                self._lost = error
        # each time: click tests streams and ignores what that raises
        if self._lost is not None:
            raise OutputError(self._lost.errno, self._lost.strerror) from self._lost

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else to the wrapped stream."""
        return getattr(self.drawn, name)


@contextlib.contextmanager
def safe_streams(redact: Callable[[str], str]) -> Iterator[None]:
    """Make stdout and stderr of this process safe in this block, even if the user closed them.

    Args:
        redact: Hides the credentials in a text.
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
    """Ensure that 0, 1 and 2 are open: otherwise the next opened file would become the stdout of child processes."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # it gets the lowest free number: this one
            os.open(os.devnull, os.O_RDWR)


def discard(stream: TextIO) -> None:
    """Discard a stream: buffered and further output goes nowhere."""
    with contextlib.suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)


def drawing_stream() -> TextIO:
    """Return the stdout for rich: a terminal itself, for `Drawn` output; else the safe stream."""
    return cast(TextIO, getattr(sys.stdout, "drawn", sys.stdout)) if sys.stdout.isatty() else sys.stdout


def is_working_directory_gone() -> bool:
    """Return whether the working directory was deleted."""
    try:
        Path.cwd()
    except OSError:
        return True
    return False
