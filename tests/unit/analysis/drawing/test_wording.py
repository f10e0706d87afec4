"""Text of runs and of other programs in Markdown."""

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
        ("one\ntwo\r\nthree\rfour", "one two three four"),
        ("a | b `c` \\|", r"a \| b \`c\` \\\|"),
        ("<b>*~# [x](y)", r"\<b\>\*\~\# \[x\](y)"),
        ("a &lt; b", r"a \&lt; b"),
        # between letters it is no emphasis
        ("completed_ratio __main__ _x y_ 1__2", r"completed_ratio \_\_main\_\_ \_x y\_ 1__2"),
    ],
)
def test_markdown_escapes_text(text: str, written: str) -> None:
    assert plain(text) == written
