"""The request of a recording of workloads that another program submits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import discover
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsSettings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.files import RecordingFiles
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import (
    Lifecycle,
    lifecycle_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.recorder import Scope
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.related_objects import discover_related
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.requests import Interruption, Place
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import (
    Session,
    SessionEnd,
    SessionPlan,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import (
    read_surroundings,
    require_namespace,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.until import condition


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """A recording of workloads of another submitter; *count* is 0 if their number is unknown."""

    place: Place
    api_version: str
    kind: str
    namespace: str
    selector: str | None
    count: int
    until: str
    timeout_s: float
    lifecycles: Mapping[str, Lifecycle] = field(default_factory=dict)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)


async def watch(endpoint: ApiEndpoint, request: WatchRequest, interrupted: Interruption) -> SessionEnd:
    """Record until the condition holds, the time is up, or the user interrupts the run.

    Raises:
        PerfError: If the cluster or the disk fails.
    """
    until = condition(request.until)
    async with ApiClient(endpoint) as client:
        surroundings = await read_surroundings(client)
        resource = await discover(client, request.api_version, request.kind)
        await require_namespace(client, request.namespace)
        plan = SessionPlan(
            run=request.place.run,
            scopes=(
                Scope(request.namespace, resource, lifecycle_of(resource.kind, request.lifecycles), request.selector),
            ),
            planned=request.count,
            timeout_s=request.timeout_s,
            until=until,
            metrics=request.metrics.plan(surroundings.metrics_endpoints),
            related=await discover_related(client, [resource.kind]),
            levels=surroundings.topology,
            client={"connections": 0, "rate": 0.0, "submitters": 0},
        )
        files = RecordingFiles(request.place.artifacts)
        return await Session(client, plan, files, surroundings, interrupted).run()
