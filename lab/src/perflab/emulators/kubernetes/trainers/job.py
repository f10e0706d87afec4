"""The task of a pod of a fine-tuning job: its ConfigMap and its own manifest, parsed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import own_annotations, own_labels

TRAINER = "lab.psap.perf/trainer"
JOB = "psap.perf/fine-tuning-job"
FMS, ILAB, RAY = "fms", "ilab", "ray"
_GPU = "nvidia.com/gpu"
_NETWORKS = "k8s.v1.cni.cncf.io/networks"
_RANKS = ("PET_NODE_RANK", "RANK")
_RANDOM = 2**31


@dataclass(frozen=True, slots=True)
class Job:
    """A training as the pod's command would read it. `gpus` are those of one pod; `seed` determines its numbers."""

    trainer: str
    name: str
    program: str
    model: str
    dataset: str
    replication: float
    pods: int
    gpus: int
    networks: int
    rdma: bool
    configuration: Mapping[str, Any]
    seed: int
    rank: int
    trains: bool

    def number(self, name: str, default: float) -> float:
        """Return a number of the configuration; other values count as absent."""
        value = self.configuration.get(name)
        try:
            return default if value is None or isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            return default

    def text(self, name: str, default: str = "") -> str:
        """Return a word of the configuration."""
        value = self.configuration.get(name)
        return default if value is None else str(value)

    def flag(self, name: str) -> bool:
        """Return whether a value of the configuration is true."""
        return str(self.configuration.get(name)).lower() in ("true", "1", "yes")


def config_map_of(pod: Document) -> str:
    """Return the name of the ConfigMap that describes the pod's job; empty if no label names the job."""
    job = own_labels(pod).get(JOB)
    return f"{job}-config" if job else ""


def read_job(pod: Document, config_map: Document) -> Job:
    """Return the job of a pod. Raises ValueError if the ConfigMap does not describe such a job."""
    data = config_map.get("data") or {}
    try:
        job, configuration = json.loads(data["job.json"]), json.loads(data["config.json"])
        dataset = job.get("dataset") or {}
        name = str(job["name"])
        pods, gpus = int(job.get("pods", 1)), _gpus_of(pod)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the ConfigMap describes no training: {error!r}") from error
    trainer = pod["metadata"]["labels"][TRAINER]
    resources = _resources(pod)
    return Job(
        trainer=trainer,
        name=name,
        program=str(job.get("program", "")),
        model=str(configuration.get("model_name_or_path") or "").rstrip("/").rsplit("/", 1)[-1],
        dataset=str(dataset.get("name") or ""),
        replication=float(dataset.get("replication") or 1),
        pods=pods,
        # the pod that submits to Ray has no GPU: those of the cluster train
        gpus=gpus or (int(job.get("gpus_per_pod", 0)) if trainer == RAY else 0),
        networks=_networks(pod),
        rdma=any("rdma" in each or "roce" in each for each in resources),
        configuration=configuration,
        seed=zlib.crc32(f"{name} {json.dumps([job, configuration], sort_keys=True)}".encode()) % _RANDOM,
        rank=_rank(pod),
        trains=not dataset.get("prepare_cache_only"),
    )


def _resources(pod: Document) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for container in pod["spec"]["containers"]:
        found |= (container.get("resources") or {}).get("limits") or {}
    return found


def _gpus_of(pod: Document) -> int:
    limits = ((each.get("resources") or {}).get("limits") or {} for each in pod["spec"]["containers"])
    return sum(int(each.get(_GPU, 0)) for each in limits)


def _networks(pod: Document) -> int:
    named = own_annotations(pod).get(_NETWORKS, "")
    return len([name for name in named.split(",") if name])


def _rank(pod: Document) -> int:
    """Return the rank of the pod in the job, as the training operator sets it; 0 prints the numbers of all.

    A pod that never ends is part of a cluster, to which another pod submits.
    """
    if pod["spec"].get("restartPolicy", "Always") == "Always":
        return 1
    variables = {each["name"]: each.get("value") for each in pod["spec"]["containers"][0].get("env") or ()}
    rank = next((variables[name] for name in _RANKS if variables.get(name)), "0")
    return int(rank) if str(rank).isdigit() else 0
