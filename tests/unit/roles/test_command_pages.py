"""The pages of docs/commands are those that the argument specifications give."""

from __future__ import annotations

from tests.programs import PROJECT, loaded


def test_the_pages_of_commands_are_up_to_date() -> None:
    generator = loaded(PROJECT / "docs/generate_commands.py")
    there = {path.name: path.read_text(encoding="utf-8") for path in (PROJECT / "docs/commands").glob("*.md")}
    assert there == generator.pages(), "run: python docs/generate_commands.py"


def test_the_page_for_those_who_come_from_topsail_is_up_to_date() -> None:
    generator = loaded(PROJECT / "docs/generate_topsail.py")
    assert generator.PAGE.read_text(encoding="utf-8") == generator.page(), "run: python docs/generate_topsail.py"
