"""Text of other programs in Markdown."""

from __future__ import annotations

import pytest
from perfanalysis.drawing.wording import plain


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("# no heading", "\\# no heading"),
        ("a#7 and o/r#7 refer to no issue", "a\\#7 and o/r\\#7 refer to no issue"),
        ("https://h/pull/7#issuecomment-2", "https://h/pull/7#issuecomment-2"),
        ("time_to_ready of _this_", "time_to_ready of \\_this\\_"),
        ("two\nlines", "two lines"),
    ],
)
def test_markdown_escapes_text(text: str, written: str) -> None:
    assert plain(text) == written
