"""Figures of the lab's emulators and products: how fast workloads pass, what each program uses. Nothing is asserted.

    python tests/bench/lab_emulators.py [--workloads 300] [--nodes 100] [--quota GPUS] [--kind KIND]
    python tests/bench/lab_emulators.py --operators [--workloads 300] [--nodes 20]
    python tests/bench/lab_emulators.py --start [--nodes 4]

For each kind: the time until the workloads are created and until they end (for KServe's kinds, which are measured only
if selected: until they are ready), and the CPU of the lab's programs for each workload; plain Jobs for comparison. With
--operators: the same on a lab of the profile openshift with Node Feature Discovery and the GPU operator, and the
cost of their installation. With --start: the time until a lab of each profile is up, three times each, its CPU during
the start and at rest, and its memory. Run it on an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from perflab.cluster.api import Api, connect, in_bulk
from perflab.control_plane.programs import EMULATORS
from perflab.files import places
from perflab.processes import state
from perflab.processes.state import Lab
from perflab.profiles import KSERVE, KUEUE, OFFERED, PROFILES

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.lab_commands import perflab
from tests.bench.processes import cpu_of, resident_mb

NAME = "bench-emulators"
REST_S = 20.0
NAMESPACE = "runai-bench"
RUNAI = f"/apis/run.ai/v2alpha1/namespaces/{NAMESPACE}"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
QUEUES = "/apis/kueue.x-k8s.io/v1beta1"
KSERVE_API = "/apis/serving.kserve.io"
GPU_LIMITS = {"cpu": "100m", "nvidia.com/gpu": "1"}

Document = dict[str, Any]
# the kinds of operators' examples, and where they are created
EXAMPLES = {
    "NodeFeatureDiscovery": "/apis/nfd.openshift.io/v1/namespaces/{namespace}/nodefeaturediscoveries",
    "ClusterPolicy": "/apis/nvidia.com/v1/clusterpolicies",
}


def job(name: str) -> Document:
    container = {"name": "main", "image": "none", "resources": {"requests": GPU_LIMITS, "limits": GPU_LIMITS}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"backoffLimit": 0, "template": template},
    }


def queued_job(name: str) -> Document:
    manifest = job(name)
    manifest["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "bench"}
    manifest["spec"]["suspend"] = True
    return manifest


def training(name: str) -> Document:
    return {
        "apiVersion": "run.ai/v2alpha1",
        "kind": "TrainingWorkload",
        "metadata": {"name": name},
        "spec": {"gpu": {"value": "1"}, "cpu": {"value": "100m"}, "backoffLimit": {"value": 0}},
    }


def distributed(name: str) -> Document:
    return {
        **training(name),
        "kind": "DistributedWorkload",
        "spec": {"gpu": {"value": "1"}, "workers": {"value": 1}},
    }


def job_ended(document: Document) -> bool:
    conditions = document.get("status", {}).get("conditions") or []
    return any(item["type"] == "Complete" and item["status"] == "True" for item in conditions)


def workload_ended(document: Document) -> bool:
    return bool(document.get("status", {}).get("phase") == "Completed")


def inference_service(name: str) -> Document:
    model = {"modelFormat": {"name": "bench"}, "resources": {"limits": GPU_LIMITS}}
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": name},
        "spec": {"predictor": {"model": model}},
    }


def llm(name: str) -> Document:
    return {
        "apiVersion": "serving.kserve.io/v1alpha2",
        "kind": "LLMInferenceService",
        "metadata": {"name": name},
        "spec": {"model": {"uri": "hf://lab/model", "name": "model"}, "replicas": 1},
    }


def is_ready(document: Document) -> bool:
    conditions = document.get("status", {}).get("conditions") or []
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


Kind = tuple[str, Callable[[str], Document], Callable[[Document], bool]]
KINDS: dict[str, Kind] = {
    "Job": (JOBS, job, job_ended),
    "Job in a Kueue queue": (JOBS, queued_job, job_ended),
    "TrainingWorkload": (f"{RUNAI}/trainingworkloads", training, workload_ended),
    "DistributedWorkload (2 pods)": (f"{RUNAI}/distributedworkloads", distributed, workload_ended),
}
# only if selected
SERVED: dict[str, Kind] = {
    "InferenceService": (f"{KSERVE_API}/v1beta1/namespaces/{NAMESPACE}/inferenceservices", inference_service, is_ready),
    "LLMInferenceService": (f"{KSERVE_API}/v1alpha2/namespaces/{NAMESPACE}/llminferenceservices", llm, is_ready),
}


async def prepare(api: Api, gpus: int) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    flavor = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ResourceFlavor", "metadata": {"name": "bench"}}
    await api.create(f"{QUEUES}/resourceflavors", flavor)
    quotas = [{"name": "cpu", "nominalQuota": "1000"}, {"name": "nvidia.com/gpu", "nominalQuota": gpus}]
    group = {
        "coveredResources": ["cpu", "nvidia.com/gpu"],
        "flavors": [{"name": "bench", "resources": quotas}],
    }
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "ClusterQueue",
        "metadata": {"name": "bench"},
        "spec": {"namespaceSelector": {}, "resourceGroups": [group]},
    }
    await api.create(f"{QUEUES}/clusterqueues", queue)
    local = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "LocalQueue",
        "metadata": {"name": "bench"},
        "spec": {"clusterQueue": "bench"},
    }
    await api.create(f"{QUEUES}/namespaces/{NAMESPACE}/localqueues", local)


async def prepare_serving(api: Api) -> None:
    runtime = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ServingRuntime",
        "metadata": {"name": "bench"},
        "spec": {
            "supportedModelFormats": [{"name": "bench", "autoSelect": True}],
            "containers": [{"name": "kserve-container", "image": "none"}],
        },
    }
    await api.create(f"{KSERVE_API}/v1alpha1/namespaces/{NAMESPACE}/servingruntimes", runtime)


async def measure(api: Api, lab: Lab, what: str, count: int) -> None:
    path, make, ended = {**KINDS, **SERVED}[what]
    prefix = f"{what.split()[0].lower()}-{time.monotonic_ns() % 10**6}"
    before, started = cpu_of(lab), time.monotonic()
    await in_bulk(list(range(count)), lambda number: api.create(path, make(f"{prefix}-{number:05d}")))
    created_s = time.monotonic() - started
    while sum(ended(each) for each in await api.list(path) if each["metadata"]["name"].startswith(prefix)) < count:
        await asyncio.sleep(0.5)
    ended_s = time.monotonic() - started
    used = {name: seconds - before[name] for name, seconds in cpu_of(lab).items()}
    print(f"\n{count} {what}: created in {created_s:.1f} s, ended after {ended_s:.1f} s ({count / ended_s:.0f}/s)")
    for name, seconds in sorted(used.items(), key=lambda item: -item[1]):
        print(f"  {name:<26} {1000 * seconds / count:6.1f} ms CPU each, {seconds / ended_s:5.0%} of a core")
    print(f"  {'together':<26} {1000 * sum(used.values()) / count:6.1f} ms CPU each", flush=True)
    for name in (EMULATORS, *lab.options.products):
        print(f"  {name:<26} {resident_mb(lab)[name]:6.0f} MB resident", flush=True)


async def run(lab: Lab, count: int, gpus: int, kinds: list[str]) -> None:
    async with connect(lab.folder, lab.server) as api:
        await prepare(api, gpus)
        if KSERVE in lab.options.products:
            await prepare_serving(api)
        # Kueue must have processed the queue before the first Job
        await asyncio.sleep(1)
        for what in kinds:
            await measure(api, lab, what, count)


async def install(api: Api, package: str, source: str, namespace: str) -> Document:
    """Install an operator and create its example; return the example."""
    await api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    olm = "/apis/operators.coreos.com"
    group = {"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "metadata": {"name": "bench"}}
    await api.create(
        f"{olm}/v1/namespaces/{namespace}/operatorgroups", {**group, "spec": {"targetNamespaces": [namespace]}}
    )
    subscription = {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "Subscription",
        "metadata": {"name": package},
        "spec": {"name": package, "source": source, "sourceNamespace": "openshift-marketplace"},
    }
    await api.create(f"{olm}/v1alpha1/namespaces/{namespace}/subscriptions", subscription)
    versions = f"{olm}/v1alpha1/namespaces/{namespace}/clusterserviceversions"
    while not (ready := [each for each in await api.list(versions) if _succeeded(each)]):
        await asyncio.sleep(0.5)
    examples: list[Document] = json.loads(ready[0]["metadata"]["annotations"]["alm-examples"])
    example = next(each for each in examples if each["kind"] in EXAMPLES)
    where = EXAMPLES[example["kind"]].format(namespace=namespace)
    while await api.create(where, example) is None:
        await asyncio.sleep(0.5)
    return example


def _succeeded(version: Document) -> bool:
    return bool((version.get("status") or {}).get("phase") == "Succeeded")


async def run_beside_operators(lab: Lab, count: int, nodes: int) -> None:
    async with connect(lab.folder, lab.server) as api:
        before, started = cpu_of(lab), time.monotonic()
        await install(api, "nfd", "redhat-operators", "openshift-nfd")
        await install(api, "gpu-operator-certified", "certified-operators", "nvidia-gpu-operator")
        while not all("nvidia.com/gpu" in node["status"]["allocatable"] for node in await api.list("/api/v1/nodes")):
            await asyncio.sleep(0.5)
        used = {name: seconds - before[name] for name, seconds in cpu_of(lab).items()}
        took_s, together_s = time.monotonic() - started, sum(used.values())
        print(f"operators and operands on {nodes} nodes: {took_s:.1f} s, {together_s:.1f} s of CPU")
        print(f"  {EMULATORS:<26} {used[EMULATORS]:.1f} s of CPU", flush=True)
        measure_rest(lab)
        await api.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        for what in ("TrainingWorkload", "Job"):
            await measure(api, lab, what, count)


def measure_starts(nodes: int) -> None:
    for profile in PROFILES:
        for last in (False, False, True):
            took_s = perflab("up", "--name", NAME, "--profile", profile, "--nodes", str(nodes))
            try:
                lab = state.get_running(places.home(), NAME)
                used_s = sum(cpu_of(lab).values())
                print(f"up, {profile}, {nodes} nodes: {took_s:.1f} s, {used_s:.1f} s of CPU", flush=True)
                if last:
                    measure_rest(lab)
            finally:
                perflab("down", "--name", NAME)


def measure_rest(lab: Lab) -> None:
    before = cpu_of(lab)
    time.sleep(REST_S)
    for name, seconds in cpu_of(lab).items():
        share = (seconds - before[name]) / REST_S
        print(f"  {name:<26} {share:6.1%} of a core at rest, {resident_mb(lab)[name]:6.0f} MB resident")
    total = (sum(cpu_of(lab).values()) - sum(before.values())) / REST_S
    print(
        f"  {'together':<26} {total:6.1%} of a core at rest, {sum(resident_mb(lab).values()):6.0f} MB resident",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workloads", type=int, default=300)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--quota", type=int, help="GPUs of the Kueue queue. [default: all]")
    parser.add_argument(
        "--kind", choices=[*KINDS, *SERVED], action="append", help="Only this kind; can be given several times."
    )
    parser.add_argument("--operators", action="store_true", help="Beside the operands of the GPU operator.")
    parser.add_argument("--start", action="store_true", help="Measure the start of a lab of each profile instead.")
    options = parser.parse_args()
    if options.start:
        measure_starts(options.nodes)
        return
    kinds = options.kind or list(KINDS)
    if options.operators:
        perflab("up", "--name", NAME, "--profile", "openshift", "--emulate", "runai", "--nodes", str(options.nodes))
        try:
            lab = state.get_running(places.home(), NAME)
            asyncio.run(run_beside_operators(lab, options.workloads, options.nodes))
        finally:
            perflab("down", "--name", NAME)
        return
    emulate = [word for name in OFFERED for word in ("--emulate", name)] + ["--with", KUEUE]
    emulate += ["--with", KSERVE] if any(each in SERVED for each in kinds) else []
    started = time.monotonic()
    perflab("up", "--name", NAME, "--nodes", str(options.nodes), *emulate)
    print(f"up with {' '.join(emulate)} and {options.nodes} nodes: {time.monotonic() - started:.1f} s")
    try:
        lab = state.get_running(places.home(), NAME)
        asyncio.run(run(lab, options.workloads, options.quota or 8 * options.nodes, kinds))
    finally:
        perflab("down", "--name", NAME)


if __name__ == "__main__":
    main()
