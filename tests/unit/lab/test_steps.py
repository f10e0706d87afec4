"""Delays and failures of emulators' steps: how they are written, found, counted and refused."""

from __future__ import annotations

import asyncio
import math
from typing import Any, cast

import pytest
from perflab.cluster.api import Api, Document
from perflab.control_plane import stepping
from perflab.emulators.framework.resources import CONFIG_MAPS
from perflab.emulators.framework.steps import Declared, Step, Steps, parse
from perflab.emulators.framework.store import Store
from perflab.errors import UsageError

from .fake_api import FakeApi

DECLARED = Declared({"install": "from the request to the install"}, {"speed": "how fast time goes"})
OBJECT: Document = {"metadata": {"name": "one", "uid": "uid-one"}}


def steps_of(**data: str) -> tuple[Steps, Store]:
    store = Store(cast(Api, FakeApi()), CONFIG_MAPS)
    steps = Steps("olm", DECLARED, store)
    if data:
        put(store, data)
    return steps, store


def put(store: Store, data: dict[str, str]) -> None:
    metadata = {"namespace": "kube-system", "name": "perflab-steps"}
    asyncio.run(store.create({"metadata": metadata, "data": {f"olm.{key}": value for key, value in data.items()}}))


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("5s", Step(5.0)),
        ("never", Step(math.inf)),
        ("fail: no such image", Step(0.0, "no such image")),
        ("1m30s, fail: a, b", Step(90.0, "a, b")),
    ],
)
def test_a_step_is_read(text: str, step: Step) -> None:
    assert parse(text) == step


@pytest.mark.parametrize("text", ["", "5", "soon", "fail:", "fail: ", "never, fail: x", "x, fail: y"])
def test_a_step_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write `5s`"):
        parse(text)


def test_a_step_of_which_nothing_is_said_is_due_and_succeeds() -> None:
    steps, _ = steps_of()
    assert (steps.wait_s("install", OBJECT), steps.failure("install", OBJECT), steps.version) == (0.0, None, "")


def test_what_is_said_of_one_object_wins() -> None:
    steps, _ = steps_of(**{"install": "never", "install.one": "fail: broken"})
    other: Document = {"metadata": {"name": "two", "uid": "uid-two"}}
    assert (steps.wait_s("install", OBJECT), steps.failure("install", OBJECT)) == (0.0, "broken")
    assert (steps.wait_s("install", other), steps.failure("install", other)) == (math.inf, None)


def test_a_delay_counts_from_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    steps, _ = steps_of(install="5s")
    clock = iter([100.0, 100.0, 103.0, 103.0, 106.0, 106.0])
    monkeypatch.setattr("perflab.emulators.framework.steps.time.monotonic", lambda: next(clock))
    assert [steps.wait_s("install", OBJECT) for _ in range(3)] == [5.0, 2.0, 0.0]


def test_a_change_is_told_and_ends_the_waiting() -> None:
    steps, store = steps_of(install="never")
    told: list[float] = []
    steps.listen(lambda: told.append(steps.wait_s("install", OBJECT)))
    put(store, {"install": "fail: now"})
    assert (told, steps.failure("install", OBJECT), steps.version) == ([0.0], "now", "2")


def test_what_cannot_be_read_counts_as_absent() -> None:
    steps, _ = steps_of(install="soon", speed="fast")
    assert (steps.wait_s("install", OBJECT), steps.number("speed", 600)) == (0.0, 600)


def test_numbers_have_a_default() -> None:
    assert steps_of()[0].number("speed", 600) == 600
    assert steps_of(speed="2.5")[0].number("speed", 600) == 2.5


def test_a_step_that_was_not_declared_is_a_bug() -> None:
    steps, _ = steps_of()
    with pytest.raises(ValueError, match="declares no step 'instal'"):
        steps.wait_s("instal", OBJECT)
    with pytest.raises(ValueError, match="declares no number 'install'"):
        steps.number("install", 1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"olm.instal": "5s"}, r"'olm\.instal' is not a step .* Its steps: olm\.install, olm\.speed"),
        ({"nfd.install": "5s"}, r"'nfd\.install' is not a step"),
        ({"olm.install": "5"}, r"olm\.install: '5' is not a step"),
        ({"olm.speed": "fast"}, r"olm\.speed: 'fast' is not a number"),
    ],
)
def test_what_no_emulator_knows_is_refused(values: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        stepping.check(values, {"olm": DECLARED})


def test_what_emulators_know_is_accepted_and_shown() -> None:
    values: dict[str, Any] = {"olm.install": "", "olm.install.a.b": "never", "olm.speed": "2"}
    stepping.check(values, {"olm": DECLARED})
    lines = stepping.describe({"olm": DECLARED}, values | {"olm.install": "5s"})
    assert [line.split()[:2] for line in lines] == [
        ["olm.install", "5s"],
        ["olm.install.a.b", "never"],
        ["olm.speed", "2"],
    ]
