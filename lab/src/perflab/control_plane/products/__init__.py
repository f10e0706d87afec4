"""Products whose own controllers a lab runs: what each brings to the cluster, and its program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from perflab.building.build import Binaries
from perflab.cluster.api import Document
from perflab.control_plane.products import kueue, ray
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import KUEUE, RAY


def _no_webhooks(_lab: Lab, _binaries: Binaries) -> Iterable[Document]:
    return ()


@dataclass(frozen=True, slots=True)
class Product:
    """Its CustomResourceDefinitions, its program (with a kubeconfig), the webhooks that it serves when ready, and where
    its metrics are read.
    """

    definitions: Callable[[Binaries], list[Path]]
    program: Callable[[Lab, Binaries, Path], Program]
    webhooks: Callable[[Lab, Binaries], Iterable[Document]] = _no_webhooks
    metrics: Callable[[Lab], str] | None = None


_PRODUCTS: Mapping[str, Product] = {
    KUEUE: Product(kueue.definitions, kueue.program, kueue.webhooks, kueue.metrics),
    RAY: Product(ray.definitions, ray.program),
}


def of(lab: Lab) -> dict[str, Product]:
    """Those of a lab, by name."""
    return {name: _PRODUCTS[name] for name in lab.options.products}
