"""The drawings of the architecture are those of the code. What the rooms may import is tested beside each package."""

from __future__ import annotations

from tests.programs import PROJECT, loaded


def test_the_drawings_are_up_to_date() -> None:
    generator = loaded(PROJECT / "docs/generate_architecture.py")
    text = generator.PAGE.read_text(encoding="utf-8")
    assert text == generator.page(text), "run: python docs/generate_architecture.py"
