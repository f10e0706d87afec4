"""Pure functions of the emulated OpenShift: project templates, and the number of busy emulators."""

from __future__ import annotations

import asyncio

from perflab.cluster.api import Document
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.store import Key
from perflab.emulators.openshift.platform.projects import instantiate

PROJECT: Document = {"kind": "Project", "metadata": {"name": "${PROJECT_NAME}"}}


def test_parameters_are_replaced_everywhere() -> None:
    template = {
        "parameters": [{"name": "PROJECT_NAME"}, {"name": "TEAM", "value": "research"}],
        "objects": [
            PROJECT,
            {"kind": "LimitRange", "metadata": {"labels": {"team": "${TEAM}"}}, "spec": {"limits": ["${UNKNOWN}", 1]}},
        ],
    }
    assert instantiate(template, {"metadata": {"name": "mine"}}) == [
        {"kind": "Project", "metadata": {"name": "mine"}},
        {"kind": "LimitRange", "metadata": {"labels": {"team": "research"}}, "spec": {"limits": ["${UNKNOWN}", 1]}},
    ]


def test_controller_is_idle_after_handling_everything() -> None:
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
