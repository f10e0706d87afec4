"""The annotations of a trainer's pod when it is created: its duration, exit code and training."""

from __future__ import annotations

import base64
import json

from perflab.cluster.api import Api, Document
from perflab.emulators.framework.documents import own_annotations
from perflab.emulators.framework.units import parse_duration
from perflab.emulators.kubernetes.trainers.benchmark import measure
from perflab.emulators.kubernetes.trainers.job import RAY, config_map_of, read_job
from perflab.emulators.kubernetes.trainers.model import train
from perflab.kubelet.training import ANNOTATION, Simulated

SPEED = "lab.psap.perf/training-speed"
DURATION, EXIT_CODE = "lab.psap.perf/duration", "lab.psap.perf/exit-code"
BENCHMARK = "ray-benchmark"
_PRODUCT = "nvidia.com/gpu.product"


def annotations_of(pod: Document, config_map: Document, product: str, speed: float) -> dict[str, str]:
    """Return the annotations for a pod; none if it does not train. Existing ones are not among them.

    Raises ValueError if the ConfigMap describes no training.
    """
    job = read_job(pod, config_map)
    benchmark = job.trainer == RAY and job.program == BENCHMARK
    if not job.trains or not (job.gpus or benchmark) or (benchmark and job.rank):
        return {}
    own = own_annotations(pod)
    simulated: Simulated = measure(job, speed) if benchmark else train(job, product, speed)
    told_s = parse_duration(own.get(DURATION))
    if told_s:
        simulated = simulated.in_time(told_s)
    wanted = {ANNOTATION: simulated.text()}
    if pod["spec"].get("restartPolicy", "Always") != "Always":
        wanted[DURATION] = f"{1000 * simulated.duration_s / simulated.speed:.0f}ms"
        if simulated.exit_code:
            wanted[EXIT_CODE] = str(simulated.exit_code)
    return {name: text for name, text in wanted.items() if name not in own}


def speed_of(pod: Document, usual: float) -> float:
    """Return how many times faster than real time the pod's training runs."""
    text = own_annotations(pod).get(SPEED, "")
    try:
        asked = float(text) if text else usual
    except ValueError as error:
        raise ValueError(f"{SPEED} is {text!r}, but must be a number") from error
    if asked <= 0:
        raise ValueError(f"{SPEED} is {asked:g}, but must be above 0")
    return asked


async def product_of(api: Api, pod: Document) -> str:
    """Return the GPUs of a pod: those that it selects, else those of a node with GPUs; empty without any."""
    selected = (pod["spec"].get("nodeSelector") or {}).get(_PRODUCT)
    if selected:
        return str(selected)
    nodes = await api.list(f"/api/v1/nodes?labelSelector={_PRODUCT}&limit=1")
    return str(nodes[0]["metadata"]["labels"][_PRODUCT]) if nodes else ""


async def review(api: Api, request: Document, usual_speed: float) -> Document:
    """Return the response to an admission request: always allowed, with annotations or a warning why there are none."""
    pod = request["object"]
    answer: Document = {"uid": request["uid"], "allowed": True}
    try:
        config_map = await _config_map(api, request["namespace"], config_map_of(pod))
        product = await product_of(api, pod)
        wanted = annotations_of(pod, config_map, product, speed_of(pod, usual_speed))
    except ValueError as error:
        return {**answer, "warnings": [f"no training is simulated in this pod: {error}"]}
    if wanted:
        patch = json.dumps(_patch(pod, wanted)).encode()
        answer |= {"patchType": "JSONPatch", "patch": base64.b64encode(patch).decode()}
    return answer


async def _config_map(api: Api, namespace: str, name: str) -> Document:
    if not name:
        raise ValueError("its label psap.perf/fine-tuning-job is missing")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    found = await api.list(f"{path}?fieldSelector=metadata.name%3D{name}")
    if not found:
        raise ValueError(f"the ConfigMap {name} does not exist")
    return found[0]


def _patch(pod: Document, wanted: dict[str, str]) -> list[Document]:
    if not pod["metadata"].get("annotations"):
        return [{"op": "add", "path": "/metadata/annotations", "value": wanted}]
    return [
        {"op": "add", "path": f"/metadata/annotations/{name.replace('/', '~1')}", "value": text}
        for name, text in wanted.items()
    ]
