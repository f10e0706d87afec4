"""The pure parts of the emulated OpenShift: project templates and how many emulators have work left."""

from __future__ import annotations

import asyncio

import pytest
from perflab.cluster.api import Document
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.store import Key
from perflab.emulators.openshift.platform.requests import sorted_objects
from perflab.emulators.openshift.platform.templates import instantiate

PROJECT: Document = {"kind": "Project", "metadata": {"name": "${PROJECT_NAME}"}}


def test_parameters_are_replaced_wherever_they_stand() -> None:
    template = {
        "parameters": [{"name": "PROJECT_NAME"}, {"name": "TEAM", "value": "research"}],
        "objects": [
            PROJECT,
            {"kind": "LimitRange", "metadata": {"labels": {"team": "${TEAM}"}}, "spec": {"limits": ["${UNKNOWN}", 1]}},
        ],
    }
    assert instantiate(template, {"PROJECT_NAME": "mine"}) == [
        {"kind": "Project", "metadata": {"name": "mine"}},
        {"kind": "LimitRange", "metadata": {"labels": {"team": "research"}}, "spec": {"limits": ["${UNKNOWN}", 1]}},
    ]


def test_the_project_of_a_template_comes_first() -> None:
    binding = {"kind": "RoleBinding"}
    assert sorted_objects([binding, PROJECT]) == ([PROJECT, binding], None)


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ([], "the project template has 0 Projects instead of one"),
        ([PROJECT, PROJECT], "the project template has 2 Projects instead of one"),
        ([PROJECT, {"kind": "Secret"}, {"kind": "Pod"}], "the lab makes no Pod, Secret from a project template"),
    ],
)
def test_a_template_that_makes_no_project_is_refused(objects: list[Document], message: str) -> None:
    assert sorted_objects(objects) == ([], message)


def test_a_controller_is_idle_once_all_was_looked_at() -> None:
    async def run() -> list[bool]:
        looked = asyncio.Event()

        async def reconcile(_key: Key) -> float:
            looked.set()
            return 3600.0

        controller = Controller("test", reconcile)
        seen = [controller.is_idle]
        controller.enqueue(("", "a"))
        seen.append(controller.is_idle)
        task = asyncio.create_task(controller.run())
        await looked.wait()
        await asyncio.sleep(0)
        seen.append(controller.is_idle)
        task.cancel()
        return seen

    assert asyncio.run(run()) == [True, False, True]
