"""Delays and failures of emulators' steps: declared, found, counted and refused."""

from __future__ import annotations

import asyncio
import datetime
import json
import math
from typing import Any, cast

import pytest
from perflab.cluster.api import Api
from perflab.control_plane import stepping
from perflab.emulators.framework.resources import CONFIG_MAPS
from perflab.emulators.framework.steps import Declarations, Progress, Steps, StepSetting, StepState, parse
from perflab.emulators.framework.store import Store
from perflab.errors import UsageError

from .fake_api import FakeApi
from .memory_api import MemoryApi

DECLARED = Declarations({"install": "from the request to the install"}, {"speed": "how fast time goes"})
BEGUN = "lab.psap.perf/steps"


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
        ("5s", StepSetting(5.0)),
        ("never", StepSetting(math.inf)),
        ("fail: no such image", StepSetting(0.0, "no such image")),
        ("1m30s, fail: a, b", StepSetting(90.0, "a, b")),
    ],
)
def test_step_is_parsed(text: str, step: StepSetting) -> None:
    assert parse(text) == step


@pytest.mark.parametrize("text", ["", "5", "soon", "fail:", "fail: ", "never, fail: x", "x, fail: y"])
def test_invalid_step_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write `5s`"):
        parse(text)


def progress(steps: Steps, **annotations: str) -> Progress:
    return Progress(steps, {"metadata": {"name": "one", "uid": "uid-one", "annotations": annotations}})


def test_undeclared_step_is_due_and_succeeds() -> None:
    steps, _ = steps_of()
    assert progress(steps).check("install", "one").done
    assert steps.version == ""


def test_annotation_of_an_object_wins() -> None:
    steps, _ = steps_of(**{"install": "never", "install.one": "fail: broken"})
    assert progress(steps).check("install", "one") == StepState(failure="broken")
    assert progress(steps).check("install", "two") == StepState(waiting=True)


@pytest.mark.parametrize(("began_before_s", "waits"), [(2, True), (6, False)])
def test_delay_counts_from_the_time_on_the_object(began_before_s: int, waits: bool) -> None:
    steps, _ = steps_of(install="5s, fail: late")
    began = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=began_before_s)
    known = progress(steps, **{BEGUN: json.dumps({"olm.install.one": began.isoformat()})})
    assert known.check("install", "one") == (StepState(waiting=True) if waits else StepState(failure="late"))
    assert (known.wait_s < 5) is waits


@pytest.mark.parametrize("text", ["[]", "words", '{"olm.install.one": 5}', '{"olm.install.one": "soon"}'])
def test_foreign_value_there_is_ignored(text: str) -> None:
    steps, _ = steps_of(install="5s")
    known = progress(steps, **{BEGUN: text})
    assert known.check("install", "one").waiting
    assert known.wait_s == 5


def test_ended_step_is_forgotten() -> None:
    steps, _ = steps_of(install="1h")
    api = MemoryApi()
    api.put("/api/v1/namespaces/team/configmaps", {"metadata": {"name": "one"}})
    store = Store(cast(Api, api), CONFIG_MAPS)

    async def look(*outstanding: bool) -> list[str | None]:
        seen = []
        for each in outstanding:
            document = api.find("/api/v1/namespaces/team/configmaps/one") or {}
            known = Progress(steps, document)
            known.check("install", "one", each)
            await known.save(store)
            seen.append((document["metadata"].get("annotations") or {}).get(BEGUN))
        return seen

    nothing, begun, kept, over = asyncio.run(look(True, True, False, False))
    assert nothing is over is None
    assert begun == kept
    assert begun is not None


def test_change_calls_the_listener() -> None:
    steps, store = steps_of(install="never")
    states: list[StepState] = []
    steps.listen(lambda: states.append(progress(steps).check("install", "one")))
    put(store, {"install": "fail: now"})
    assert (states, steps.version) == ([StepState(failure="now")], "2")


def test_invalid_value_counts_as_absent() -> None:
    steps, _ = steps_of(install="soon", speed="fast")
    assert (progress(steps).check("install", "one").done, steps.number("speed", 600)) == (True, 600)


def test_numbers_have_a_default() -> None:
    assert steps_of()[0].number("speed", 600) == 600
    assert steps_of(speed="2.5")[0].number("speed", 600) == 2.5


def test_undeclared_step_name_is_a_bug() -> None:
    steps, _ = steps_of()
    with pytest.raises(ValueError, match="declares no step 'instal'"):
        steps.of("instal", "one")
    with pytest.raises(ValueError, match="declares no number 'install'"):
        steps.number("install", 1)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"olm.instal": "5s"}, r"no step 'olm\.instal'; known: olm\.install, olm\.speed"),
        ({"nfd.install": "5s"}, r"no step 'nfd\.install'"),
        ({"olm.install": "5"}, r"olm\.install: invalid step '5'"),
        ({"olm.speed": "fast"}, r"olm\.speed: 'fast' is not a number"),
    ],
)
def test_unknown_step_is_refused(values: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        stepping.check(values, {"olm": DECLARED})


def test_known_steps_are_accepted_and_shown() -> None:
    values: dict[str, Any] = {"olm.install": "", "olm.install.a.b": "never", "olm.speed": "2"}
    stepping.check(values, {"olm": DECLARED})
    lines = stepping.describe({"olm": DECLARED}, values | {"olm.install": "5s"})
    assert [line.split()[:2] for line in lines] == [
        ["olm.install", "5s"],
        ["olm.install.a.b", "never"],
        ["olm.speed", "2"],
    ]
