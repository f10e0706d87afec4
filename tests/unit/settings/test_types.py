"""Command-line texts and file values, checked against the declared types."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where
from ansible_collections.psap.perf.plugins.module_utils.settings.findings import wrong_value
from ansible_collections.psap.perf.plugins.module_utils.settings.secret_states import NOT_GIVEN, OK, WRONG, states
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import Option
from ansible_collections.psap.perf.plugins.module_utils.settings.types import convert_leaf, convert_text, problems


def option(kind: str = "str", **changed: Any) -> Option:
    given: dict[str, Any] = {
        "name": "x",
        "type": kind,
        "description": (),
        "default": None,
        "required": False,
        "choices": (),
        "elements": None,
        "options": (),
        "dimension": (),
        "secret": False,
        "compare": None,
        "section": "x",
        "where": Where("x"),
    }
    return Option(**{**given, **changed})


VARIES = {"dimension": ("",)}


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        (option("int"), "4", 4),
        (option("int"), " -4 ", -4),
        (option("float"), "4", 4.0),
        (option("float", **VARIES), "[1, 2.5]", [1.0, 2.5]),
        (option("bool"), "Yes", True),
        (option("bool"), "off", False),
        (option("str"), "1.10", "1.10"),
        (option("str"), "[a]", "[a]"),
        (option("str", **VARIES), "[a, b]", ["a", "b"]),
        (option("int", **VARIES), "[1,2]", [1, 2]),
        (option("int", **VARIES), "['1']", [1]),
        (option("list"), "[1, a]", [1, "a"]),
        (option("dict"), "{a: {b: 1}}", {"a": {"b": 1}}),
        (option("int"), "null", None),
        (option("int"), "{{ other }}", "{{ other }}"),
        (option("raw"), "4", "4"),
    ],
)
def test_text_is_converted_to_the_declared_type(declared: Option, text: str, value: Any) -> None:
    converted = convert_text(declared, text)

    assert converted == value
    assert type(converted) is type(value)


@pytest.mark.parametrize(
    ("declared", "text", "message"),
    [
        (option("int"), "4.5", "must be an int, but is the text '4.5'"),
        (option("int", default=1), "null", "must be an int"),
        (option("int", **VARIES), "[1, x]", "must be an int, but is the text 'x'"),
        (option("bool"), "maybe", "must be a bool (true or false)"),
        (option("list"), "a,b", "must be a list, but is the text 'a,b'; write it as '[1, 2]'"),
        (option("dict"), "{a: [}", "is not well-formed YAML"),
    ],
)
def test_text_of_another_type_is_refused(declared: Option, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^(must|is)") as caught:
        convert_text(declared, text)

    assert message in str(caught.value)


def test_leaf_is_converted_by_its_declaration_or_as_yaml() -> None:
    tree = option("dict", options=(option("int", name="depth"), option("str", name="version")), dimension=("depth",))

    assert convert_leaf(tree, ("depth",), "4") == 4
    assert convert_leaf(tree, ("depth",), "[4, 5]") == [4, 5]
    assert convert_leaf(tree, ("version",), "1.10") == "1.10"
    assert convert_leaf(option("dict"), ("anything",), "4") == 4


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        (option("int"), 4, []),
        (option("int"), True, [("", "must be an int, but is True (bool)")]),
        (option("int"), [1], [("", "must be an int, but is [1] (list)")]),
        (option("int", **VARIES), [1, 2], []),
        (option("int", **VARIES), [], [("", "is an empty list of values; pass at least one")]),
        (option("float"), 4, []),
        (option("str"), 1.1, [("", "must be text (str), but is 1.1 (float)")]),
        (option("str"), "{{ later }}", []),
        (option("str"), None, []),
        (option("str", default="a"), None, [("", "is null, but must be text (str)")]),
        (
            option("str", choices=("Job", "Pod")),
            "job",
            [("", "must be one of Job, Pod, but is the text 'job'; did you mean Job?")],
        ),
        (
            option("list", elements="int"),
            [1, "b"],
            [("", "must be a list whose items are an int, but one is the text 'b'")],
        ),
        (
            option("dict", options=(option("int", name="depth", required=True),)),
            {"deep": 1},
            [("deep", "is unknown; did you mean depth?"), ("depth", "is required")],
        ),
        (
            option("dict", options=(option("int", name="depth"), option("int", name="count"))),
            {"speed": 1},
            [("speed", "is unknown; the keys are depth, count")],
        ),
        (
            option("dict", options=(option("int", name="depth"),), dimension=("depth",)),
            {"depth": [1, "x"]},
            [("depth", "must be an int, but is the text 'x'")],
        ),
    ],
)
def test_problems_are_sentence_endings(declared: Option, value: Any, expected: list[tuple[str, str]]) -> None:
    assert list(problems(declared, value)) == expected


def test_each_value_of_a_secret_dictionary_is_a_reference() -> None:
    declared = option("dict", secret=True)
    values = {"token": "env:PERF_NOTHING", "key": "plain text", "later": "{{ reference }}", "none": 4}

    found = [finding.message for finding in wrong_value(declared, values, "here")]

    assert [message.partition(" must name a secret")[0] for message in found] == ["x.key", "x.none"]
    assert "plain text" not in str(found)
    assert [finding.message for finding in wrong_value(declared, "env:X", "here")] != []


def test_secrets_of_a_dictionary_are_listed_one_by_one() -> None:
    def value(reference: str) -> str:
        if reference == "env:NOTHING":
            raise UsageError("it is missing")
        return "value"

    declared = option("dict", secret=True)
    given = {declared.name: {"token": "env:TOKEN", "key": "env:NOTHING"}}

    assert [(one.name, one.status, one.problem) for one in states((declared,), given, value)] == [
        ("x.token", OK, ""),
        ("x.key", WRONG, "it is missing"),
    ]
    assert [one.status for one in states((declared,), {declared.name: {}}, value)] == [NOT_GIVEN]
