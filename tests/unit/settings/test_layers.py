"""Combining layers, regardless of their sources."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.settings.files import COMMAND_LINE, Where
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import (
    Layer,
    history,
    layer,
    settle,
    with_leaves,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import (
    Entry,
    Preset,
    PresetError,
    Resolver,
    names_in,
)


def layer_of(kind: str, **values: Any) -> Layer:
    entries = [
        Entry(name.replace("__", "."), value, Where(kind, number))
        for number, (name, value) in enumerate(values.items(), 1)
    ]
    return layer(kind, entries)


def preset(name: str, *entries: tuple[str, Any]) -> Preset:
    listed = tuple(Entry(key, value, Where(name, number)) for number, (key, value) in enumerate(entries, 1))
    return Preset(name, listed, Where(name))


def resolve(presets: dict[str, Preset], *names: str) -> Layer:
    resolver = Resolver(presets.get, presets)
    return Layer("preset", resolver.resolve([(name, COMMAND_LINE) for name in names]))


def test_highest_layer_wins_and_is_named() -> None:
    settled = settle([layer_of("default", a=1, b=1), layer_of("site", b=2)])

    assert (settled["a"].value, settled["a"].origin) == (1, "default:1")
    assert (settled["b"].value, settled["b"].kind, settled["b"].origin) == (2, "site", "site:1")


def test_leaf_changes_a_copy_and_a_dictionary_replaces_leaves() -> None:
    tree = {"r": 1, "inner": {"x": 1}}
    layers = [layer_of("base", tree=tree), layer_of("site", tree__inner__x=2), layer_of("preset", tree__new=3)]

    settled = settle(layers)["tree"]

    assert settled.value == {"r": 1, "inner": {"x": 2}, "new": 3}
    assert settled.origin == "base:1, site:1, preset:1"
    assert tree == {"r": 1, "inner": {"x": 1}}
    assert settle([*layers, layer_of("extra", tree={"only": 1})])["tree"].value == {"only": 1}
    assert with_leaves(layers) == {"tree"}


def test_leaf_below_nothing_creates_the_dictionary() -> None:
    assert settle([layer_of("preset", tree__a__b=1)])["tree"].value == {"a": {"b": 1}}


@pytest.mark.parametrize("below", ["text", 4, [1]])
def test_leaf_below_a_scalar_is_refused(below: Any) -> None:
    with pytest.raises(PresetError, match=r"^preset:1: a\.b sets a leaf of a, which is not a dictionary"):
        settle([layer_of("base", a=below), layer_of("preset", a__b=1)])


def test_history_shows_every_layer_and_what_applies() -> None:
    layers = history(
        [layer_of("default", a=1), layer_of("site", a={"x": 1}), layer_of("preset", a__x=2), layer_of("other", b=1)],
        "a",
    )

    assert [(one.kind, one.key, one.wins) for one in layers] == [
        ("default", "a", False),
        ("site", "a", True),
        ("preset", "a.x", True),
    ]


def test_extends_is_applied_in_place() -> None:
    presets = {
        "parent": preset("parent", ("a", "parent"), ("b", "parent")),
        "child": preset("child", ("a", "child"), ("extends", ["parent"]), ("b", "child")),
    }

    settled = settle([resolve(presets, "child")])

    assert (settled["a"].value, settled["a"].origin) == ("parent", "parent:1")
    assert (settled["b"].value, settled["b"].origin) == ("child", "child:3")


def test_later_presets_win_and_a_shared_parent_is_reapplied() -> None:
    presets = {
        "parent": preset("parent", ("a", "parent")),
        "left": preset("left", ("extends", "parent"), ("a", "left")),
        "right": preset("right", ("extends", "parent"), ("b", "right")),
    }

    settled = settle([resolve(presets, "left", "right")])

    assert settled["a"].value == "parent"
    assert settled["b"].value == "right"


@pytest.mark.parametrize(
    ("presets", "message"),
    [
        ({"a": preset("a", ("extends", ["a"]))}, "a:1: presets extend each other in a loop: a → a"),
        (
            {
                "a": preset("a", ("extends", "b")),
                "b": preset("b", ("extends", "c")),
                "c": preset("c", ("extends", "b")),
            },
            "c:1: presets extend each other in a loop: b → c → b; remove one of these extends",
        ),
        (
            {"a": preset("a", ("extends", "bee")), "bees": preset("bees")},
            "a:1: unknown preset bee; did you mean bees?",
        ),
        ({"a": preset("a", ("extends", {"b": 1}))}, "a:1: extends must be the name of a preset or a list of names"),
        ({"a": preset("a", ("b..c", 1))}, "a:1: invalid name b..c: a part between its dots is empty"),
    ],
)
def test_inapplicable_presets_are_refused(presets: dict[str, Preset], message: str) -> None:
    with pytest.raises(PresetError) as caught:
        resolve(presets, "a")

    assert str(caught.value).startswith(message)


def test_preset_names_are_a_list_or_a_text() -> None:
    assert names_in("a, b c", COMMAND_LINE) == ("a", "b", "c")
    assert names_in(["a", "b"], COMMAND_LINE) == ("a", "b")
    with pytest.raises(PresetError, match="must be a list of names of presets"):
        names_in({"a": 1}, COMMAND_LINE)
