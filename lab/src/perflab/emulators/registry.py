"""The emulators by their names: each is a Python package, or a folder with a `product.yaml` for the engine."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from perflab import profiles
from perflab.emulators.engine.product import ProductFile, load
from perflab.emulators.engine.running import controllers_of
from perflab.emulators.engine.targets import Targets
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.steps import Declarations
from perflab.emulators.framework.stores import Stores


class Runnable(Protocol):
    """A controller or a server."""

    name: str

    async def run(self) -> None:
        """Work until cancelled."""


def product_file(name: str) -> Path | None:
    """Return the `product.yaml` of the emulator *name*; None if it is a Python package."""
    path = profiles.folder(name) / "product.yaml"
    return path if path.exists() else None


def declarations(name: str) -> Declarations:
    """Return the steps and numbers of the emulator *name*."""
    path = product_file(name)
    return _of_product(load(path)) if path is not None else _of_package(name)


def _of_product(file: ProductFile) -> Declarations:
    return Declarations(file.product.steps, file.product.numbers)


def _of_package(name: str) -> Declarations:
    package: Any = importlib.import_module(profiles.package(name))
    return Declarations(getattr(package, "STEPS", {}), getattr(package, "NUMBERS", {}))


def runnable_of(name: str, stores: Stores, targets: Targets) -> Iterator[Runnable]:
    """Yield the controllers and servers of one emulator."""
    path = product_file(name)
    running: Iterable[Runnable]
    if path is not None:
        file = load(path)
        running = controllers_of(Cluster(stores, name, _of_product(file)), file, targets)
    else:
        package: Any = importlib.import_module(profiles.package(name))
        running = package.controllers(Cluster(stores, name, _of_package(name)))
    for each in running:
        each.name = f"{name}: {each.name}"
        yield each
