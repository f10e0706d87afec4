"""The pages of docs/commands are those that the argument specifications give."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]


def test_the_pages_of_commands_are_up_to_date() -> None:
    location = importlib.util.spec_from_file_location("generate_commands", PROJECT / "docs/generate_commands.py")
    assert location is not None
    assert location.loader is not None
    generator = importlib.util.module_from_spec(location)
    location.loader.exec_module(generator)

    there = {path.name: path.read_text(encoding="utf-8") for path in (PROJECT / "docs/commands").glob("*.md")}
    assert there == generator.pages(), "run: python docs/generate_commands.py"
