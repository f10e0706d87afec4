"""Sets delays and failures of the steps of a lab's emulators and products, and waits until their programs have them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import aiohttp

from perflab.cluster.api import Api, connect
from perflab.control_plane import products
from perflab.control_plane.programs import EMULATORS
from perflab.emulators.framework import steps
from perflab.emulators.framework.steps import Declarations
from perflab.emulators.registry import declarations
from perflab.errors import UsageError
from perflab.processes import launch
from perflab.processes.ports import LOOPBACK
from perflab.processes.state import Lab

_PATH = f"/api/v1/namespaces/{steps.STEPS_NAMESPACE}/configmaps"


def known(lab: Lab) -> dict[str, Declarations]:
    """Return emulator or product of the lab → its declared steps and numbers."""
    of_products = {name: Declarations(each.steps) for name, each in products.of(lab).items() if each.steps}
    return {**{name: declarations(name) for name in lab.emulators}, **of_products}


def check(values: Mapping[str, str], possible: Mapping[str, Declarations]) -> None:
    """Raise UsageError if a key is not a step (or number) of the lab, or its value is invalid; "" removes a key."""
    for key, value in values.items():
        emulator, _, rest = key.partition(".")
        settable = possible.get(emulator, Declarations())
        step = rest.partition(".")[0]
        if step not in settable.steps and rest not in settable.numbers:
            names = ", ".join(sorted(_names(possible))) or "none"
            raise UsageError(f"the lab has no step {key!r}; known: {names}.")
        if value:
            _check_value(key, value, is_number=rest in settable.numbers)


def _check_value(key: str, value: str, *, is_number: bool) -> None:
    try:
        float(value) if is_number else steps.parse(value)
    except ValueError as error:
        wanted = f"{value!r} is not a number" if is_number else str(error)
        raise UsageError(f"{key}: {wanted}.") from error


def _names(possible: Mapping[str, Declarations]) -> list[str]:
    return [f"{name}.{part}" for name, each in possible.items() for part in (*each.steps, *each.numbers)]


def describe(possible: Mapping[str, Declarations], values: Mapping[str, str]) -> list[str]:
    """Return a line for each step and number with its value, and one for each object with another value."""
    lines = []
    for emulator, each in possible.items():
        for step, what in {**each.steps, **each.numbers}.items():
            key = f"{emulator}.{step}"
            lines.append(f"{key:<32} {values.get(key, '-'):<12} {what}")
            own = sorted(name for name in values if name.startswith(f"{key}."))
            lines += [f"{name:<32} {values[name]}" for name in own]
    return lines


def read(lab: Lab) -> dict[str, str]:
    """Return the set values: key → value."""

    async def ask() -> dict[str, str]:
        async with connect(lab.folder, lab.server) as api:
            return await _read(api)

    return asyncio.run(ask())


def change(lab: Lab, values: Mapping[str, str], *, clear: bool) -> dict[str, str]:
    """Set *values* (after removing all, with *clear*); return all set values, once every program has them."""
    return asyncio.run(_change(lab, values, clear=clear))


async def _change(lab: Lab, values: Mapping[str, str], *, clear: bool) -> dict[str, str]:
    async with connect(lab.folder, lab.server) as api:
        before = await _read(api)
        removed = dict.fromkeys(before) if clear else {}
        data = {**removed, **{key: value or None for key, value in values.items()}}
        body = {"metadata": {"name": steps.STEPS_NAME}, "data": {}}
        await api.create(_PATH, body)
        patched = await api.patch(f"{_PATH}/{steps.STEPS_NAME}", {"data": data})
        programs = [EMULATORS, *(name for name, each in products.of(lab).items() if each.steps)]
        version = patched["metadata"]["resourceVersion"]
        await asyncio.gather(*(_wait_until_known(lab, name, version) for name in programs))
    return dict(patched.get("data") or {})


async def _read(api: Api) -> dict[str, str]:
    path = f"{_PATH}/{steps.STEPS_NAME}"
    found = await api.get(path) if await api.exists(path) else {}
    return dict(found.get("data") or {})


async def _wait_until_known(lab: Lab, program: str, version: str) -> None:
    # objects created next must not reach a program that does not have the values yet
    url = f"http://{LOOPBACK}:{lab.ports[program]}/steps"
    async with aiohttp.ClientSession() as session:

        async def known() -> bool:
            try:
                async with session.get(url) as answer:
                    return int(await answer.json() or 0) >= int(version)
            except aiohttp.ClientError:
                # it is restarting: ask again
                return False

        await launch.wait_until(lab, f"{program} has the new values of steps", known)
