"""Submitters in pods of the cluster, for a load that one machine cannot send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient, UnansweredError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.pod_streams import pod_stream
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RetryPolicy
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters import in_pod
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import Folder
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.mirroring import (
    MirroredSubmitter,
    Stream,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.pod_objects import CONTAINER, PodObjects
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.pod_program import start_command
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.temporary_objects import (
    NOT_FOUND,
    temporary_objects,
)
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import pod_ready

_TICK_S = 0.2
# an API server that starts again may not answer
_ONE_LOOK = RetryPolicy(give_up_after_s=1.0)


@dataclass(frozen=True, slots=True)
class SubmitterPods:
    """Starts submitters in pods that run."""

    client: ApiClient
    objects: PodObjects
    started: list[MirroredSubmitter] = field(default_factory=list)

    def start(self, folder: Folder, number: int) -> MirroredSubmitter:
        """Start submitter *number* of the submission in *folder*."""
        submitter = MirroredSubmitter(_Pod(self.client, self.objects, self.objects.pod_name(number)), folder, number)
        self.started.append(submitter)
        return submitter

    async def end(self) -> None:
        """End all submitters, and wait until their connections are closed."""
        for submitter in self.started:
            submitter.kill()
        await asyncio.gather(*(submitter.task for submitter in self.started), return_exceptions=True)


@dataclass(frozen=True, slots=True)
class _Pod:
    client: ApiClient
    objects: PodObjects
    name: str

    def stream(self, number: int) -> AbstractAsyncContextManager[Stream]:
        command = start_command(in_pod.__name__, str(number))
        return pod_stream(self.client, self.objects.namespace, self.name, CONTAINER, command)

    async def fate(self) -> str:
        try:
            answer = await self.client.request("GET", f"{self.objects.pods_path}/{self.name}", policy=_ONE_LOOK)
        except UnansweredError:
            return ""
        if answer.status == NOT_FOUND:
            return f"lost its pod {self.name}, which was deleted"
        return _fate(answer.document()) if answer.succeeded else ""


@asynccontextmanager
async def submitter_pods(
    endpoint: ApiEndpoint, objects: PodObjects, count: int, interrupted: Callable[[], bool]
) -> AsyncIterator[SubmitterPods]:
    """Create *count* pods and wait until they run; delete them after the block, also after an error.

    Raises:
        ClusterError: If a pod does not run in time, or an object cannot be created or deleted.
        Interrupted: If the user interrupts the run before the pods run.
    """
    async with (
        # a dedicated client: the requests of the session's client are in the recording
        ApiClient(endpoint) as client,
        temporary_objects(client, objects.account()),
        temporary_objects(client, objects.pods(count)),
    ):
        await _wait_running(client, objects, count, interrupted)
        pods = SubmitterPods(client, objects)
        try:
            yield pods
        finally:
            await pods.end()


async def _wait_running(client: ApiClient, objects: PodObjects, count: int, interrupted: Callable[[], bool]) -> None:
    waiting = {objects.pod_name(number): "its state is unknown" for number in range(count)}
    deadline = asyncio.get_running_loop().time() + objects.settings.ready_within_s
    while waiting:
        if interrupted():
            raise Interrupted("interrupted: the run was asked to stop")
        for name in list(waiting):
            answer = await client.request("GET", f"{objects.pods_path}/{name}")
            verdict = pod_ready(answer.document()) if answer.succeeded else None
            if verdict is not None and verdict.reached:
                del waiting[name]
                continue
            waiting[name] = verdict.note if verdict else answer.message()
            if (verdict and verdict.hopeless) or answer.status == NOT_FOUND:
                raise _not_running(objects, {name: waiting[name]})
        if waiting and asyncio.get_running_loop().time() > deadline:
            raise _not_running(objects, waiting)
        await asyncio.sleep(_TICK_S)


def _not_running(objects: PodObjects, reasons: Mapping[str, str]) -> ClusterError:
    name, reason = next(iter(reasons.items()))
    others = f" ({len(reasons)} pods do not run)" if len(reasons) > 1 else ""
    return ClusterError(
        f"nothing was submitted: the submitter pod {objects.namespace}/{name} does not run: {reason}{others}; "
        f"its image is {objects.settings.image}"
    )


def _fate(pod: Mapping[str, Any]) -> str:
    """Return why a pod ended, as a phrase that follows the submitter's name; empty if it runs."""
    name = pod["metadata"]["name"]
    if pod["metadata"].get("deletionTimestamp"):
        return f"lost its pod {name}, which was deleted"
    verdict = pod_ready(pod)
    return f"lost its pod {name}: {verdict.note}" if verdict.hopeless else ""
