"""Words that every output shares."""

from __future__ import annotations

from typing import Any

import pytest
from perfanalysis.wording import counted, value_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a text", "a text"),
        (4, "4"),
        (0.5, "0.5"),
        (True, "true"),
        (None, "null"),
        ({}, "{}"),
        ([], "[]"),
        ({"r": 4}, "r=4"),
        (
            {"r": 4, "lora": {"alpha": 16, "of": ["q", "v"], "more": {}}},
            "r=4, lora.alpha=16, lora.of=[q, v], lora.more={}",
        ),
        ([{"name": "x", "count": 2}, {"name": "y"}], "[(name=x, count=2), (name=y)]"),
    ],
)
def test_a_value_is_told_without_the_marks_of_a_language(value: Any, text: str) -> None:
    assert value_text(value) == text


def test_numbers_of_things() -> None:
    assert [counted(number, "run") for number in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]
    assert counted(2, "query", "queries") == "2 queries"
