"""The group `import`: each format has one line of help, and is documented."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from perfanalysis.__main__ import run
from perfanalysis.cli import IMPORT

DOCUMENT = Path(__file__).resolve().parents[4] / "docs" / "foreign-data.md"


@pytest.mark.parametrize("name", IMPORT.table)
def test_format_help_is_one_line_and_names_its_destination(name: str) -> None:
    line = str(IMPORT.table[name].help)
    assert line.endswith(".")
    assert len(line) < 56
    command = IMPORT.get_command(click.Context(IMPORT), name)
    assert command is not None
    assert command.name == name
    options = {option for parameter in command.params for option in parameter.opts}
    assert options & {"--into", "--history"}


def test_page_lists_the_formats() -> None:
    rows = [line.split("|") for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    listed = {row[1].strip(" `") for row in rows if row[3].strip() in ("run", "history", "run, or history")}
    assert set(IMPORT.table) <= listed


def test_help_lists_the_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "--help"]) == 0
    output = capsys.readouterr().out
    for name, command in IMPORT.table.items():
        assert any(line.split()[:1] == [name] and str(command.help) in line for line in output.splitlines())
