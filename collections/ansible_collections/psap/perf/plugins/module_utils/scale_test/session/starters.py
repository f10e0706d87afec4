"""Choose what submits: this process, several processes of this machine, or pods of the cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load import Load
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import Surroundings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.gathering import SubmitterStarter
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.pod_objects import PodObjects, PodSettings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.pods import submitter_pods
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.process import LocalProcesses
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import OwnSubmission

PODS = "pods"
_LAB_IMAGE = "localhost/perflab/psap-perf:1"
_LAB_NODE = "lab.psap.perf/real"
# beyond the time limit of the recording: the deletion of pods and queues
_MARGIN_S = 300.0


@asynccontextmanager
async def submitter_starter(
    endpoint: ApiEndpoint,
    own: OwnSubmission,
    load: Load,
    surroundings: Surroundings,
    interrupted: Callable[[], bool],
) -> AsyncIterator[SubmitterStarter | None]:
    """Yield what starts the submitters of *own*; None if this process submits alone.

    Raises:
        UsageError: If pods have no image.
        ClusterError: If pods cannot run.
        Interrupted: If the user interrupts the run before the pods run.
    """
    if load.submitters_as == PODS:
        namespaces = [tenant.namespace for tenant in load.all_tenants()]
        objects = PodObjects(
            submission=own.workloads.submission,
            namespaces=list(dict.fromkeys(namespaces)),
            resources=list(own.resources.values()),
            settings=_pod_settings(load, surroundings),
        )
        async with submitter_pods(endpoint, objects, load.submitters, interrupted) as pods:
            yield pods
    else:
        yield LocalProcesses(endpoint) if load.submitters > 1 else None


def _pod_settings(load: Load, surroundings: Surroundings) -> PodSettings:
    settings = PodSettings(
        image=load.submitters_image or (_LAB_IMAGE if surroundings.lab else ""),
        node_selector=load.submitters_node_selector,
        tolerations=load.submitters_tolerations,
        run_as_user=0 if surroundings.openshift else load.run_as_user,
        ready_within_s=load.submitters_ready_timeout,
        longest_s=load.submitters_ready_timeout + load.timeout + _MARGIN_S,
    )
    if not settings.image:
        raise UsageError("submitters in pods need an image with Python and its packages: set submitters_image")
    return _on_real_node(settings, surroundings.lab) if surroundings.lab else settings


def _on_real_node(settings: PodSettings, lab: Lab) -> PodSettings:
    """Return the settings for the only node of a lab whose pods run programs."""
    if "worker" not in lab.real:
        raise ClusterError(
            f"the pods of the lab {lab.name!r} run no programs, so no submitter runs in one: "
            "create a lab with `perflab up --with worker`, or use processes"
        )
    return replace(
        settings,
        node_selector={_LAB_NODE: "true", **settings.node_selector},
        tolerations=[{"key": _LAB_NODE, "operator": "Exists"}, *settings.tolerations],
    )
