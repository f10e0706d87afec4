"""Directives in a text: valid ones, misspelled ones, and examples."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where
from perfci.arguments.directives import LONGEST_VALUE, Directive, directives_in, variable

URL = "https://github.com/o/r/pull/1#issuecomment-2"


def words(text: str) -> list[tuple[str, str, int | None]]:
    """Return the directives of a text: word, rest, line."""
    return [(each.word, each.rest, each.where.line) for each in directives_in(text, URL).directives]


def test_directive_is_a_line_with_a_known_word() -> None:
    text = "Please test\r\n/test scale-test smoke  lab \r\n   /var a.b: [1, 2]\n/SKIP plots\r/only test\n/cluster lab\n"
    assert words(text) == [
        ("test", "scale-test smoke  lab", 2),
        ("var", "a.b: [1, 2]", 3),
        ("skip", "plots", 4),
        ("only", "test", 5),
        ("cluster", "lab", 6),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```\n/test x\n```",
        "```yaml\n/test x\n``\n```` \n",
        "~~~\n/test x",
        "````\n```\n/test x\n```\n````",
        "    /test x",
        "\t/test x",
        "> /test x",
        "<!--\n/test x\n-->",
        "before <!-- /var a: 1\n/test x\n--> after",
        "look: /test x",
        "`/test x`",
        "- /test x",
        "/usr/bin/test x",
        "//test x",
        "/ test x",
    ],
)
def test_quoted_or_code_lines_are_not_directives(text: str) -> None:
    result = directives_in(text, URL)
    assert (result.directives, result.problems) == ((), ())


def test_text_after_an_example_is_read_again() -> None:
    assert words("```\n/var a: 1\n```\n/var b: 2\n<!-- x -->\n/var c: 3") == [("var", "b: 2", 4), ("var", "c: 3", 6)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("/vra a: 1", "did you mean /var?"),
        ("/tests x", "did you mean /test?"),
        ("/skp plots", "did you mean /skip?"),
        ("/v\u0430r a: 1", "characters that directives cannot have"),
        ("/\u0442\u0435\u0455\u0442 x", "characters that directives cannot have"),
        ("\uff0fvar a: 1", "characters that directives cannot have"),
        ("\u2215test x", "characters that directives cannot have"),
        ("/va\u200br a: 1", "characters that directives cannot have"),
        ("/var a: 1\u2028/var b: 2", "characters that directives cannot have"),
        ("/var a: \u202e1", "characters that directives cannot have"),
        ("/\u0301var a: 1", "characters that directives cannot have"),
    ],
)
def test_misspelled_directive_is_reported(line: str, problem: str) -> None:
    result = directives_in(f"x\n{line}", URL)
    assert result.directives == ()
    (message,) = result.problems
    assert message.startswith(f"{URL}:2: ")
    assert problem in message


def test_directives_of_other_bots_are_ignored() -> None:
    result = directives_in("/lgtm\n/approve\n/retest\n/label x\n/frobnicate", URL)
    assert (result.directives, result.problems) == ((), ())
    assert ["/frobnicate is not a directive of psap.perf" in remark for remark in result.remarks] == [True]


@pytest.mark.parametrize(
    ("rest", "name", "value"),
    [
        ("a: 50", "a", 50),
        ('a: "50"', "a", "50"),
        ("a: 2.5", "a", 2.5),
        ("a: yes", "a", True),
        ("a: null", "a", None),
        ("a:", "a", None),
        ("a.b.c: [1, {x: y}]", "a.b.c", [1, {"x": "y"}]),
        ("a: 'x: y # z'", "a", "x: y # z"),
        ("a: \u00e4", "a", "\u00e4"),
    ],
)
def test_variable_has_its_yaml_type(rest: str, name: str, value: Any) -> None:
    assert variable(Directive("var", rest, Where(URL, 1))) == (name, value)


BOMB = "a: {b: &b [x,x], c: &c [*b,*b], d: &d [*c,*c], e: [*d,*d]}"


@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        ("a 50", "must be /var NAME: VALUE"),
        ("a:50", "must be /var NAME: VALUE"),
        (": 50", "must be /var NAME: VALUE"),
        ("a b: 50", "must be /var NAME: VALUE"),
        ("a;rm: 50", "must be /var NAME: VALUE"),
        ("a: [1", "not well-formed YAML"),
        ("a: {x: 1, x: 2}", "duplicate key x"),
        (BOMB, "an anchor, an alias or a tag"),
        ("a: !!python/object/apply:os.system [ls]", "an anchor, an alias or a tag"),
        ("a: !vault x", "an anchor, an alias or a tag"),
        (f"a: {'x' * (1 << 20)}", f"the limit is {LONGEST_VALUE}"),
        (f"a: {'[' * 1000}", "nested deeper"),
        (f"a: {'{x: ' * 40}", "nested deeper"),
    ],
)
def test_complex_yaml_is_refused_before_it_is_built(rest: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        variable(Directive("var", rest, Where(URL, 1)))
