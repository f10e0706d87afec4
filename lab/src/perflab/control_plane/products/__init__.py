"""Products whose own controllers a lab runs: their objects in the cluster, and their programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.control_plane.products import (
    argo,
    endpoint_picker,
    envoy,
    jobset,
    keda,
    kserve,
    kueue,
    lws,
    metrics_server,
    models,
    olm,
    pipelines,
    ray,
    trainer,
    training_operator,
    worker,
)
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import (
    ARGO,
    ENDPOINT_PICKER,
    ENVOY,
    JOBSET,
    KEDA,
    KEDA_ADAPTER,
    KSERVE,
    KUEUE,
    LWS,
    METRICS_SERVER,
    MODELS,
    OLM,
    PIPELINES,
    RAY,
    TRAINER,
    TRAINING_OPERATOR,
    WORKER,
    running,
)


def _nothing(_lab: Lab, _binaries: Binaries) -> Iterable[Document]:
    return ()


@dataclass(frozen=True, slots=True)
class Product:
    """Its CustomResourceDefinitions, its program (with a kubeconfig), the webhooks and APIs that it serves when ready,
    the URL of its metrics, and its steps with settable delays and failures.

    `objects` are required by the program at its start; they may be of the kinds that it defines.
    """

    definitions: Callable[[Lab, Binaries], Iterable[Document]]
    program: Callable[[Lab, Binaries, Path], Program]
    objects: Callable[[Lab, Binaries], Iterable[Document]] = _nothing
    served: Callable[[Lab, Binaries], Iterable[Document]] = _nothing
    metrics: Callable[[Lab], str] | None = None
    steps: Mapping[str, str] = field(default_factory=dict)


_PRODUCTS: Mapping[str, Product] = {
    KUEUE: Product(kueue.definitions, kueue.program, served=kueue.served, metrics=kueue.metrics),
    OLM: Product(olm.definitions, olm.program, olm.objects, olm.served, steps=olm.STEPS),
    RAY: Product(ray.definitions, ray.program),
    TRAINING_OPERATOR: Product(
        training_operator.definitions, training_operator.program, served=training_operator.webhook
    ),
    JOBSET: Product(jobset.definitions, jobset.program, served=jobset.webhooks),
    LWS: Product(lws.definitions, lws.program, served=lws.webhooks),
    TRAINER: Product(trainer.definitions, trainer.program, trainer.objects, trainer.webhooks),
    KSERVE: Product(kserve.definitions, kserve.program, kserve.objects, kserve.webhooks),
    KEDA: Product(keda.definitions, keda.program, keda.objects),
    KEDA_ADAPTER: Product(_nothing, keda.adapter, served=keda.served),
    ENDPOINT_PICKER: Product(_nothing, endpoint_picker.program, metrics=endpoint_picker.metrics),
    ARGO: Product(argo.definitions, argo.program, argo.objects),
    PIPELINES: Product(_nothing, pipelines.program),
    ENVOY: Product(_nothing, envoy.program),
    MODELS: Product(_nothing, models.program, metrics=models.metrics),
    WORKER: Product(_nothing, worker.program, worker.objects),
    METRICS_SERVER: Product(_nothing, metrics_server.program, served=metrics_server.served),
}


def of(lab: Lab) -> dict[str, Product]:
    """Return the products of a lab, by name."""
    names = running(lab.options.profile, lab.options.products)
    # without root, the pods of a real node have no control groups and therefore no metrics
    return {name: _PRODUCTS[name] for name in names if not (lab.rootless and name == METRICS_SERVER)}
