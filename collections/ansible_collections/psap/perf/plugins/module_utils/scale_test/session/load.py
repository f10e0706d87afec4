"""The arguments of a load, and of the scrapes of the control plane's metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsSettings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.churn import ChurnPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.multikueue import check_clusters
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import ArrivalSettings, phases_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import (
    Assortment,
    Priority,
    Tenant,
    tenants_of,
    without_queues,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.device_claims import DeviceClaim
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import template_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.topology import (
    NONE,
    Placement,
    placement_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import Trace

# the arguments that templates can use
_VARIABLES = (
    "gpus",
    "image",
    "cpu",
    "memory",
    "node_selector",
    "tolerations",
    "run_as_user",
    "pvc_size",
    "pvc_storage_class",
    "pvc_access_mode",
)


@dataclass(frozen=True, slots=True)
class MetricsArguments:
    """Arguments about the metrics of the control plane."""

    metrics_interval: Seconds
    metrics_endpoints: Mapping[str, str]

    @property
    def metrics(self) -> MetricsSettings:
        """Return the checked settings.

        Raises:
            UsageError: If an endpoint is not a URL, or of an unknown component.
        """
        return MetricsSettings(self.metrics_interval, self.metrics_endpoints)


@dataclass(frozen=True, slots=True)
class Load(MetricsArguments):
    """The arguments of the command scale_test_submit, which are also settings of the flow scale_test."""

    count: int
    workload_kind: str
    template: str
    patch: Mapping[str, Any]
    lifecycles: Mapping[str, Any]
    queue: str
    use_queues: bool
    multikueue_clusters: Mapping[str, str]
    gpus: int
    pods: int
    namespace: str
    tenants: tuple[Tenant, ...]
    priorities: tuple[Priority, ...]
    gang: bool
    scheduler_name: str
    topology: str
    topology_level: str
    topology_labels: tuple[str, ...]
    claims: tuple[DeviceClaim, ...]
    connections: int
    submitters: int
    submitters_as: str
    submitters_image: str
    submitters_node_selector: Mapping[str, str]
    submitters_tolerations: tuple[Mapping[str, Any], ...]
    submitters_ready_timeout: Seconds
    rate: float
    burst: int
    spacing: str
    seed: int
    batch_delay: Seconds
    phases: tuple[Mapping[str, Any], ...]
    trace: str
    churn_percent: float
    churn_period: Seconds
    churn_rounds: int
    duration: Seconds
    timeout: Seconds
    max_failed: int
    image: str
    cpu: str
    memory: str
    pvc_size: str
    pvc_storage_class: str
    pvc_access_mode: str
    node_selector: Mapping[str, str]
    tolerations: tuple[Mapping[str, Any], ...]
    run_as_user: int

    @property
    def template_name(self) -> str:
        """Return the name of the template: the user's, or the shipped one of the kind."""
        return self.template or template_of(self.workload_kind)

    def placement(self, levels: Sequence[str]) -> Placement | None:
        """Return the placement of a workload's pods in a topology with these *levels*.

        Raises:
            UsageError: If the level is unknown.
        """
        return placement_of(self.topology, self.topology_level, levels)

    def levels(self, of_lab: Sequence[str]) -> tuple[str, ...]:
        """Return the labels of the topology's levels: those of the load, else those *of_lab*."""
        return self.topology_labels or tuple(of_lab)

    @property
    def variables(self) -> dict[str, Any]:
        """Return the variables that templates can use."""
        return {**{name: getattr(self, name) for name in _VARIABLES}, "queue": self.queue if self.use_queues else ""}

    @property
    def churn(self) -> ChurnPlan:
        """Return the checked churn.

        Raises:
            UsageError: If a number is out of its range.
        """
        return ChurnPlan(self.churn_percent, self.churn_period, self.churn_rounds)

    def all_tenants(self) -> list[Tenant]:
        """Return the tenants, each with its namespace, and with its queue unless the load uses no queues."""
        tenants = tenants_of(self.tenants, self.namespace, self.queue)
        return tenants if self.use_queues else without_queues(tenants)

    @property
    def worker_clusters(self) -> Mapping[str, str]:
        """Return the kubeconfigs of MultiKueue's worker clusters, by their names; none without queues."""
        return self.multikueue_clusters if self.use_queues else {}

    def check_clusters(self) -> None:
        """Check that workloads like these can be dispatched to the worker clusters, if there are some.

        Raises:
            UsageError: If they cannot, or a name is invalid.
        """
        check_clusters(self.worker_clusters, self.all_tenants())
        if self.worker_clusters and (self.gang or self.claims or self.topology != NONE):
            raise UsageError("gangs, claims and a topology need objects that only the cluster of the test has")

    def assortment(self, trace: Trace | None) -> Assortment:
        """Return the shares of tenants and priorities, with the rows of *trace*.

        Raises:
            UsageError: If a weight is below 1, or the weights repeat too late.
        """
        return Assortment(self.all_tenants(), self.priorities, trace)

    def arrivals(self, trace: Trace | None) -> ArrivalSettings:
        """Return when workloads are due.

        Args:
            trace: The trace that the argument names, read.

        Raises:
            UsageError: If arguments contradict each other, or one is out of its range.
        """
        return ArrivalSettings(
            rate=self.rate,
            burst=self.burst,
            spacing=self.spacing,
            seed=self.seed,
            batch_delay_s=self.batch_delay,
            phases=phases_of(self.phases),
            trace=trace,
        )
