# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.fine_tuning.result import FILE, JobObjects, document
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query, QueryArguments
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import lab_of
from ansible_collections.psap.perf.plugins.module_utils.run.directory import STOP_FILE
from ansible_collections.psap.perf.plugins.module_utils.waiting.lost_nodes import lost_pods
from ansible_collections.psap.perf.plugins.modules.fine_tuning.result import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.argument_specs import argument_spec
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult

_PRODUCT_LABEL = "nvidia.com/gpu.product"
_GPU = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class JobArguments:
    """The arguments of the command, for the record."""

    workload: str
    mode: str
    phase: str
    container_image: str
    model: str | None
    dataset: str | None
    dataset_replication: float
    pods: int
    gpus_per_pod: int
    hyper_parameters: Mapping[str, Any]
    configuration: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Arguments(QueryArguments):
    pod_selector: str
    main_selector: str
    asked: JobArguments


class ActionModule(PerfAction):
    """Record the result of a fine-tuning job."""

    ARGUMENTS = argument_spec(DOCUMENTATION)
    RUNS_IN_CHECK_MODE = False

    def describe(self, context: VerbContext) -> str:
        """Return what would be written."""
        args = context.arguments(Arguments)
        return f"would write {FILE} of {args.kind} {args.name}"

    def perform(self, context: VerbContext) -> VerbResult:
        """Read the job and its pods as they are now."""
        args = context.arguments(Arguments)
        cluster = context.cluster()
        job = _job(cluster, args)
        if job is None:
            return VerbResult(skipped=f"{args.kind} {args.name} does not exist, so there is no result")
        pods, main = _pods(cluster, args)
        node = (main or {}).get("spec", {}).get("nodeName")
        observed = JobObjects(
            job=job,
            main=main,
            pods=pods,
            gpu_product=_gpu_product(cluster, main, pods),
            lab=lab_of(cluster.lab()),
            interrupted=(context.run_directory / STOP_FILE).exists(),
            lost=lost_pods(cluster, pods, datetime.now(UTC)),
        )
        found = document({"job": args.name, "namespace": args.namespace, **asdict(args.asked)}, observed)
        write_json(context.directory / "artifacts" / FILE, found)
        return VerbResult(values={"outcome": found["outcome"], "reason": found["reason"], "node": node})


def _job(cluster: Cluster, args: Arguments) -> Manifest | None:
    query = args.as_query()
    return cluster.get(query) if cluster.serves(query.api_version, query.kind) else None


def _pods(cluster: Cluster, args: Arguments) -> tuple[list[Manifest], Manifest | None]:
    """Return all pods of the job, and the main one."""
    pods, _version = cluster.list(Query("v1", "Pod", args.namespace, label_selector=args.pod_selector))
    chosen = f"{args.pod_selector},{args.main_selector}"
    main, _version = cluster.list(Query("v1", "Pod", args.namespace, label_selector=chosen))
    return pods, main[0] if main else None


def _gpu_product(cluster: Cluster, main: Manifest | None, pods: Sequence[Manifest]) -> str | None:
    """Return the GPU of the main pod's node, or of the first pod with GPUs if the main pod has none."""
    with_gpus = (pod for pod in ([main] if main else []) + list(pods) if _has_gpus(pod))
    node = next(with_gpus, {}).get("spec", {}).get("nodeName")
    found = cluster.get(Query("v1", "Node", name=node)) if node else None
    product = (found or {}).get("metadata", {}).get("labels", {}).get(_PRODUCT_LABEL)
    return str(product) if product else None


def _has_gpus(pod: Manifest) -> bool:
    limits = ((each.get("resources") or {}).get("limits") or {} for each in pod["spec"]["containers"])
    return any(_GPU in each for each in limits)
