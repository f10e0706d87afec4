"""Pods of fine-tuning jobs in the form that the lab's webhook receives."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from perflab.emulators.kubernetes.trainers.admission import annotations_of
from perflab.kubelet.training import Benchmark, Training, read_simulated

H100 = "NVIDIA-H100-80GB-HBM3"
STARTED = "2026-01-01T10:00:00Z"


@dataclass(frozen=True)
class Asked:
    """One pod of a job, by the arguments of its command."""

    trainer: str = "fms"
    model: str = "granite-3.0-8b"
    dataset: str = "alpaca_data.json"
    replication: float = 1.0
    pods: int = 1
    gpus: int = 8
    program: str = ""
    product: str = H100
    rank: int = 0
    networks: str = ""
    rdma: bool = False
    cache_only: bool = False
    restart_policy: str = "Never"
    annotations: dict[str, str] = field(default_factory=dict)
    configuration: dict[str, Any] = field(default_factory=dict)

    def pod(self) -> dict[str, Any]:
        limits = {"nvidia.com/gpu": str(self.gpus)} if self.gpus else {}
        limits |= {"nvidia.com/roce": "2"} if self.rdma else {}
        networks = {"k8s.v1.cni.cncf.io/networks": self.networks} if self.networks else {}
        variables = [{"name": "RANK", "value": str(self.rank)}]
        return {
            "metadata": {
                "name": "job-master-0",
                "namespace": "n",
                "labels": {"lab.psap.perf/trainer": self.trainer, "psap.perf/fine-tuning-job": "job"},
                "annotations": {**networks, **self.annotations},
            },
            "spec": {
                "restartPolicy": self.restart_policy,
                "containers": [{"name": "main", "resources": {"limits": limits}, "env": variables}],
            },
        }

    def config_map(self) -> dict[str, Any]:
        dataset = {"name": self.dataset, "replication": self.replication, "prepare_cache_only": self.cache_only}
        job = {"name": "job", "pods": self.pods, "gpus_per_pod": self.gpus, "program": self.program, "dataset": dataset}
        configuration = {"model_name_or_path": f"/mnt/storage/model/{self.model}", **self.configuration}
        return {"data": {"job.json": json.dumps(job), "config.json": json.dumps(configuration)}}

    def wanted(self, speed: float = 600.0) -> dict[str, str]:
        """Return the annotations that the webhook adds to the pod."""
        return annotations_of(self.pod(), self.config_map(), self.product, speed)

    def training(self) -> Training:
        found = read_simulated(self.wanted())
        assert isinstance(found, Training)
        return found

    def benchmark(self) -> Benchmark:
        found = read_simulated(self.wanted())
        assert isinstance(found, Benchmark)
        return found

    def after(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return the pod with its annotations and this state of its container."""
        pod = self.pod()
        pod["metadata"]["annotations"] |= self.wanted()
        pod["status"] = {"containerStatuses": [{"name": "main", "state": state}]}
        return pod

    def ended(self) -> dict[str, Any]:
        """Return the pod after its own end."""
        code = int(self.wanted().get("lab.psap.perf/exit-code", "0"))
        return self.after({"terminated": {"startedAt": STARTED, "finishedAt": STARTED, "exitCode": code}})
