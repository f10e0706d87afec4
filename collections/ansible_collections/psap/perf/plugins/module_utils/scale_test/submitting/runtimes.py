"""Runtimes of TrainJobs at the cluster: they exist during a submission."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.waiting import wait_without_problem
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.temporary_objects import (
    TemporaryObject,
    temporary_objects,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import Workloads
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.training_runtimes import KIND

_KNOWN_WITHIN_S = 30.0


@asynccontextmanager
async def runtimes(
    client: ApiClient, workloads: Iterable[Workloads], resources: Iterable[ResourceKind]
) -> AsyncIterator[None]:
    """Create the runtimes of *workloads*, and delete them after the block, also after an error.

    Kubeflow Trainer keeps a deleted runtime until no TrainJob names it.

    Args:
        resources: The kinds of all workloads.

    Raises:
        ClusterError: If one cannot be created or is not known to the webhook of TrainJobs in time.
    """
    kinds = {(resource.api_version, resource.kind): resource for resource in resources}
    users = {(each.namespace, each.runtime["metadata"]["name"]): each for each in workloads if each.runtime}
    async with temporary_objects(client, [_object(each.runtime) for each in users.values() if each.runtime]):
        for each in users.values():
            await _known(client, each, kinds[each.api_version, each.kind])
        yield


def _object(runtime: dict[str, Any]) -> TemporaryObject:
    resource = ResourceKind(runtime["apiVersion"], KIND, "trainingruntimes")
    return TemporaryObject(resource.collection(runtime["metadata"]["namespace"]), runtime)


async def _known(client: ApiClient, workloads: Workloads, resource: ResourceKind) -> None:
    """Wait until the webhook of TrainJobs, which reads runtimes from a cache, accepts a TrainJob."""
    path, body = resource.collection(workloads.namespace), json.dumps(workloads.manifest(0)).encode()

    async def find_problem() -> str:
        answer = await client.request("POST", path, body=body, params={"dryRun": "All"})
        return "" if answer.succeeded else answer.message()

    problem = await wait_without_problem(find_problem, _KNOWN_WITHIN_S)
    if problem:
        raise ClusterError(f"cannot create a {resource.kind}: {problem}")
