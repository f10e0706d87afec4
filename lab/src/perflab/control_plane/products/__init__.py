"""Products whose own controllers a lab runs: what each brings to the cluster, and its program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from perflab.building.build import Binaries
from perflab.cluster.api import Document
from perflab.control_plane.products import kserve, kueue, ray
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import KSERVE, KUEUE, RAY


def _nothing(_lab: Lab, _binaries: Binaries) -> Iterable[Document]:
    return ()


@dataclass(frozen=True, slots=True)
class Product:
    """Its CustomResourceDefinitions, its program (with a kubeconfig), the webhooks that it serves when ready, and where
    its metrics are read.

    `objects` are those without which the program does not start; they may be of the kinds that it defines.
    """

    definitions: Callable[[Lab, Binaries], Iterable[Document]]
    program: Callable[[Lab, Binaries, Path], Program]
    objects: Callable[[Lab, Binaries], Iterable[Document]] = _nothing
    webhooks: Callable[[Lab, Binaries], Iterable[Document]] = _nothing
    metrics: Callable[[Lab], str] | None = None


_PRODUCTS: Mapping[str, Product] = {
    KUEUE: Product(kueue.definitions, kueue.program, webhooks=kueue.webhooks, metrics=kueue.metrics),
    RAY: Product(ray.definitions, ray.program),
    KSERVE: Product(kserve.definitions, kserve.program, kserve.objects, kserve.webhooks),
}


def of(lab: Lab) -> dict[str, Product]:
    """Those of a lab, by name."""
    return {name: _PRODUCTS[name] for name in lab.options.products}
