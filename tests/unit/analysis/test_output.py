"""Output: foreign text controls neither a terminal nor a CI system, and no stream fails with a traceback."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from perfanalysis.drawing.wording import plain
from perfanalysis.output import Drawn, one_line, printable
from rich.console import Console
from rich.text import Text

HOSTILE = "ok\n::set-output name=x::y\x1b[31mred\x1b]0;title\x07\x9b2J\u202egnp\ud800"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x9b2J", r"\u001b[2J\u009b2J"),
        ("a\tb\nc\r\nd\re", "a\tb\nc\nd" + r"\u000de"),
        ("ok\n ::error file=a::b", "ok\n " + r"\u003a:error file=a::b"),
        ("##[error]a ##vso[task.x]", r"\u0023#[error]a \u0023#vso[task.x]"),
        ("std::vector::size ::1", "std::vector::size ::1"),
        ("\u202eabc\u2028\U000e0041", r"\u202eabc\u2028\udb40\udc41"),
        ("grün 日本 👩\u200d🚀", "grün 日本 👩\u200d🚀"),
    ],
)
def test_control_characters_and_ci_commands_are_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_json_output_keeps_its_meaning() -> None:
    assert json.loads(printable(json.dumps({"a": HOSTILE}, ensure_ascii=False, indent=1))) == {"a": HOSTILE}


def test_text_with_newlines_stays_on_one_line() -> None:
    assert one_line(HOSTILE).startswith(r"ok ::set-output name=x::y\u001b[31mred")
    assert "\n" not in one_line("a\x0bb\u2029c\nd")


def test_markdown_has_no_control_characters() -> None:
    assert plain(HOSTILE) == one_line(HOSTILE).replace("\\", "\\\\").replace("[", r"\[").replace("]", r"\]")


def test_only_rich_emits_colours() -> None:
    stream = io.StringIO()
    Console(file=stream, force_terminal=True, width=200).print(Drawn(Text(HOSTILE, "green")))
    text = stream.getvalue()
    assert text.startswith("\x1b[32mok")
    assert r"\u001b[31mred" in text
    assert "\x1b[31m" not in text


def _run_program(words: str, directory: Path, redirection: str) -> subprocess.CompletedProcess[str]:
    command = f'(cd "{directory}" && "{sys.executable}" -m {words} {redirection})'
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", ["perfanalysis measures", "perfanalysis --help", "perfdrv flows", "perfdrv --help", "perflab --help"]
)
@pytest.mark.parametrize(
    ("redirection", "code", "error"),
    [
        (">&-", 0, ""),
        (">/dev/full", 1, "Error: cannot write the output: No space left on device\n"),
        ("2>&-", 0, ""),
        ("2>/dev/full", 0, ""),
        ("</dev/null >&- 2>&-", 0, ""),
    ],
)
def test_unwritable_stream_causes_at_most_one_error(words: str, redirection: str, code: int, error: str) -> None:
    done = _run_program(words, Path(__file__).parent, redirection)
    assert (done.returncode, done.stderr) == (code, error)


@pytest.mark.slow
@pytest.mark.parametrize("words", ["perfanalysis measures", "perfanalysis report latest", "perfdrv flows"])
def test_deleted_working_directory_is_refused(words: str, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    done = _run_program(words, tmp_path, f"; cd gone && rmdir ../gone && {sys.executable} -m {words}")
    assert done.returncode == 2
    assert done.stderr.endswith("Error: the working directory was deleted; change into another one\n")


@pytest.mark.slow
def test_closed_pipe_is_not_an_error() -> None:
    done = _run_program("perfdrv commands", Path(__file__).parent, "; echo $? >&2) | (exec <&-")
    assert done.stderr == "0\n"
