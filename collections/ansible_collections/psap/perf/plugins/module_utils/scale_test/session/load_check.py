"""Whether the settings of the flow scale_test make a load, before anything is touched: what types and rules cannot say.

Every finding names its setting, and all of them are told at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.machines.sizing import Pods
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsSettings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.requests import Place, SubmitRequest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.churn import ChurnPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.priorities import check_priorities
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.queues import check_queues
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import ArrivalSettings, phases_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import (
    Assortment,
    priorities_of,
    tenants_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.inputs import (
    MOST_WORKLOADS,
    check_claim_size,
    check_namespace,
    positive_seconds,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import template_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import Trace, read_trace

# of the templates' variables those that are settings
_VARIABLES = (
    "gpus",
    "image",
    "cpu",
    "memory",
    "queue",
    "pvc_size",
    "pvc_storage_class",
    "pvc_access_mode",
)
_DURATIONS = ("duration", "batch_delay", "churn_period", "metrics_interval")

# from the folder of a role and what the user named to the file
Find = Callable[[str, str], Path]


def check_load(
    settings: Mapping[str, Any],
    cells: Sequence[Mapping[str, Any]],
    find: Find,
    variables: Mapping[str, Any],
    proceed: Callable[[], None] = lambda: None,
) -> None:
    """Refuse *settings* (by name) that no load can be made of, in any of the *cells* (values of the dimensions).

    *variables* are those of templates that no setting has; *proceed* is called before each cell and may raise.

    :raises UsageError: with all that is wrong, a line each.
    """
    check = _Check(settings, {})
    check.values()
    assortment = check.shares()
    trace = check.files(find)
    for cell in cells:
        proceed()
        check.arrivals({**settings, **cell}, trace)
    # what is rendered, and counted on the way, has values that can be used
    if assortment is not None and not check.found:
        assortment = Assortment(assortment.tenants, assortment.priorities, trace)
        for cell in cells:
            proceed()
            check.templates({**settings, **cell}, assortment, find, variables)
    if check.found:
        raise UsageError("\n".join(check.found))


def pods_of(settings: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> list[list[Pods]]:
    """The pods of each cell that are there at once, at most."""
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
    """How many workloads the cell with the fewest has, those of churn included."""
    totals = (_churn(settings).total({**settings, **cell}["scale_test_count"]) for cell in cells)
    return min(totals, default=MOST_WORKLOADS)


def _churn(settings: Mapping[str, Any]) -> ChurnPlan:
    percent, period, rounds = (settings[f"scale_test_churn_{name}"] for name in ("percent", "period", "rounds"))
    return ChurnPlan(percent, seconds(period), rounds)


@dataclass(frozen=True, slots=True)
class _Check:
    """What was found so far, each thing once and in order."""

    settings: Mapping[str, Any]
    found: dict[str, None]

    @contextmanager
    def _naming(self, setting: str) -> Iterator[None]:
        try:
            yield
        except UsageError as error:
            self.found[f"scale_test_{setting}: {error}"] = None

    def _value(self, setting: str) -> Any:
        return self.settings[f"scale_test_{setting}"]

    def values(self) -> None:
        """Durations, sizes, names."""
        for setting in _DURATIONS:
            with self._naming(setting):
                seconds(self._value(setting))
        with self._naming("timeout"):
            positive_seconds(self._value("timeout"))
        with self._naming("pvc_size"):
            check_claim_size(self._value("pvc_size"))
        with self._naming("metrics_endpoints"):
            MetricsSettings(0.0, self._value("metrics_endpoints"))
        with self._naming("namespace"):
            check_namespace(self._value("namespace"))
        if self._value("project"):
            with self._naming("project"):
                check_namespace(f"runai-{self._value('project')}")

    def shares(self) -> Assortment | None:
        """Tenants and priorities; None when they cannot be used."""
        tenants = tenants_of(self._value("tenants"), self._value("namespace"), self._value("queue"))
        priorities = priorities_of(self._value("priorities"))
        with self._naming("tenants"):
            for tenant in tenants:
                check_namespace(tenant.namespace)
            check_queues(tenants)
            Assortment(tenants)
        with self._naming("priorities"):
            check_priorities(priorities)
            return Assortment(tenants, priorities)
        return None

    def files(self, find: Find) -> Trace | None:
        """The template of the user's own, and the trace, which comes back when it can be used."""
        with self._naming("template"):
            self._template(self.settings, find)
        if self._value("trace"):
            with self._naming("trace"):
                return read_trace(find("files", self._value("trace")))
        return None

    def arrivals(self, settings: Mapping[str, Any], trace: Trace | None) -> None:
        """Whether all workloads of one cell come to be due."""
        count, connections = settings["scale_test_count"], settings["scale_test_connections"]
        if trace is not None:
            with self._naming("trace"):
                trace.check(count)
        with self._naming("phases"):
            phases = phases_of(self._value("phases"))
            if phases:
                shape = ArrivalSettings(
                    burst=self._value("burst"), spacing=self._value("spacing"), seed=self._value("seed"), phases=phases
                )
                shape.arrivals(count, connections)

    def templates(
        self, settings: Mapping[str, Any], assortment: Assortment, find: Find, variables: Mapping[str, Any]
    ) -> None:
        """Whether a workload of each kind of one cell can be rendered."""
        given = {name.removeprefix("scale_test_"): value for name, value in settings.items()}
        with self._naming("template" if given["template"] else "workload_kind"):
            request = SubmitRequest(
                place=Place("check", "check", Path(), Path()),
                template=self._template(settings, find),
                variables={**variables, **{name: given[name] for name in _VARIABLES}},
                patch=given["patch"],
                count=given["count"],
                pods=given["pods"],
                duration_s=seconds(given["duration"]),
                connections=given["connections"],
                submitters=given["submitters"],
                churn=_churn(settings),
                arrivals=ArrivalSettings(),
                assortment=assortment,
                timeout_s=positive_seconds(given["timeout"]),
            )
            request.check_templates()

    def _template(self, settings: Mapping[str, Any], find: Find) -> Path:
        kind = str(settings["scale_test_workload_kind"])
        return find("templates", settings["scale_test_template"] or template_of(kind))
