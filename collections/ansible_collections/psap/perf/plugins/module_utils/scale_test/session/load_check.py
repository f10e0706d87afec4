"""Check a scale test's load before anything changes, beyond types and rules of settings.

Every finding names its setting, and all of them are reported together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsSettings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load import Load
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.requests import Place, SubmitRequest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.churn import ChurnPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.multikueue import check_clusters
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.priorities import check_priorities
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.queues import check_queues
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import ArrivalSettings, phases_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import (
    Assortment,
    Tenant,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.device_claims import check_device_claims
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.inputs import (
    MOST_WORKLOADS,
    check_claim_size,
    check_namespace,
    positive_seconds,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.topology import check_labels
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import Trace, read_trace

_DURATIONS = ("duration", "batch_delay", "churn_period", "metrics_interval", "timeout")

# finds the file for a folder of a role and a name
Find = Callable[[str, str], Path]


def check_load(
    settings: Mapping[str, Any],
    cells: Sequence[Mapping[str, Any]],
    find: Find,
    arguments: Mapping[str, Any],
    proceed: Callable[[], None] = lambda: None,
) -> None:
    """Check that *settings* describe a load in every cell.

    Args:
        settings: The flow's settings by name.
        cells: The values of the dimensions in each cell.
        find: Returns the path of a file, or raises UsageError.
        arguments: The arguments of the command by their short names, for those that no setting has.
        proceed: Called before each cell; may raise.

    Raises:
        UsageError: With all errors, a line each.
    """
    check = _Check({})
    usable = check.durations(settings)
    loads = [_load({**usable, **cell}, arguments) for cell in cells]
    trace = None
    # these values are the same in all cells
    for load in loads[:1]:
        check.values(load, settings["scale_test_project"])
        trace = check.files(load, find)
    for load in loads:
        proceed()
        check.arrivals(load, trace)
    # templates are rendered only with valid values
    if not check.found:
        for load in loads:
            proceed()
            check.templates(load, trace, find)
    if check.found:
        raise UsageError("\n".join(check.found))


def pods_of(settings: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> list[list[Pods]]:
    """Return the maximum number of concurrent pods of each cell."""
    return [
        [
            Pods(
                one["scale_test_count"] * one["scale_test_pods"],
                str(one["scale_test_cpu"]),
                str(one["scale_test_memory"]),
                one["scale_test_gpus"],
            )
        ]
        for one in ({**settings, **values} for values in cells)
    ]


def fewest_workloads(settings: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of workloads of the smallest cell, with those of churn."""
    totals = (_churn(settings).total({**settings, **cell}["scale_test_count"]) for cell in cells)
    return min(totals, default=MOST_WORKLOADS)


def _churn(settings: Mapping[str, Any]) -> ChurnPlan:
    percent, period, rounds = (settings[f"scale_test_churn_{name}"] for name in ("percent", "period", "rounds"))
    return ChurnPlan(percent, seconds(period), rounds)


def _load(settings: Mapping[str, Any], arguments: Mapping[str, Any]) -> Load:
    """Return the load of *settings* and, where no setting is an argument, of *arguments*."""
    own = {name.removeprefix("scale_test_"): value for name, value in settings.items()}
    return convert({**arguments, **own}, Load)


@dataclass(frozen=True, slots=True)
class _Check:
    """The findings so far, each once and in order."""

    found: dict[str, None]

    @contextmanager
    def _naming(self, setting: str) -> Iterator[None]:
        try:
            yield
        except UsageError as error:
            self.found[f"scale_test_{setting}: {error}"] = None

    def durations(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return *settings* with invalid durations replaced, so that the others can be checked, too."""
        usable = dict(settings)
        for setting in _DURATIONS:
            name = f"scale_test_{setting}"
            usable[name] = "1s"
            with self._naming(setting):
                (positive_seconds if setting == "timeout" else seconds)(settings[name])
                usable[name] = settings[name]
        return usable

    def values(self, load: Load, project: str) -> None:
        """Check sizes and names, and the shares of tenants and priorities."""
        with self._naming("pvc_size"):
            check_claim_size(load.pvc_size)
        with self._naming("metrics_endpoints"):
            MetricsSettings(0.0, load.metrics_endpoints)
        with self._naming("namespace"):
            check_namespace(load.namespace)
        if project:
            with self._naming("project"):
                check_namespace(f"runai-{project}")
        # cells without queues have the same tenants
        tenants = replace(load, use_queues=True).all_tenants()
        with self._naming("tenants"):
            for tenant in tenants:
                check_namespace(tenant.namespace)
            check_queues(tenants)
            Assortment(tenants)
        with self._naming("multikueue_clusters"):
            check_clusters(load.multikueue_clusters, tenants)
        with self._naming("topology_level" if load.topology_level else "topology_labels"):
            check_labels(load.topology_labels, load.topology_level)
        with self._naming("claims"):
            check_device_claims(load.claims)
        with self._naming("priorities"):
            check_priorities(load.priorities)
            Assortment([Tenant()], load.priorities)

    def files(self, load: Load, find: Find) -> Trace | None:
        """Check the user's template; return the trace if it is valid."""
        with self._naming("template"):
            find("templates", load.template_name)
        if load.trace:
            with self._naming("trace"):
                return read_trace(find("files", load.trace))
        return None

    def arrivals(self, load: Load, trace: Trace | None) -> None:
        """Check that all workloads of one cell become due."""
        if trace is not None:
            with self._naming("trace"):
                trace.check(load.count)
        with self._naming("phases"):
            phases = phases_of(load.phases)
            if phases:
                shape = ArrivalSettings(burst=load.burst, spacing=load.spacing, seed=load.seed, phases=phases)
                shape.arrivals(load.count, load.connections)

    def templates(self, load: Load, trace: Trace | None, find: Find) -> None:
        """Check that a workload of each kind of one cell can be rendered."""
        with self._naming("template" if load.template else "workload_kind"):
            template = find("templates", load.template_name)
            SubmitRequest(Place("check", "check", Path(), Path()), template, load, trace).check_templates()
