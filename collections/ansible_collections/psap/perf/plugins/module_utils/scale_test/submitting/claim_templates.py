"""Claims of devices at the cluster: templates exist during a submission, and invalid claims are refused before it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.temporary_objects import (
    TemporaryObject,
    temporary_objects,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.device_claims import (
    API_VERSION,
    CLAIM,
    TEMPLATE,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.manifests import pod_templates
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import Workloads

DEVICE_CLAIMS = ResourceKind(API_VERSION, CLAIM, "resourceclaims")
_TEMPLATES = ResourceKind(API_VERSION, TEMPLATE, "resourceclaimtemplates")


@asynccontextmanager
async def claim_templates(client: ApiClient, templates: Iterable[dict[str, Any]]) -> AsyncIterator[None]:
    """Create the templates of claims, and delete them after the block, also after an error.

    Raises:
        ClusterError: If one cannot be created, or not deleted after a block without an error.
    """
    wanted = [TemporaryObject(_TEMPLATES.collection(each["metadata"]["namespace"]), each) for each in templates]
    async with temporary_objects(client, wanted):
        yield


async def check_accepted(client: ApiClient, workloads: Workloads, resource: ResourceKind) -> None:
    """Check that the cluster accepts the claims of a workload and keeps the references of its pods.

    The objects that it names, such as its PriorityClass and its runtime, must exist. Definitions of
    kinds that were made for an older Kubernetes drop the references silently.

    Raises:
        ClusterError: If it refuses a claim.
        UsageError: If the pods of the kind cannot have claims.
    """
    for companion in workloads.companions(0):
        if companion["kind"] == CLAIM:
            await _created(client, DEVICE_CLAIMS, companion)
    manifest = workloads.manifest(0)
    kept = await _created(client, resource, manifest)
    if _references(kept) != _references(manifest):
        raise UsageError(
            f"pods of a {workloads.kind} ({workloads.api_version}) cannot claim devices: the kind's definition drops "
            "the field; choose Job, IndexedJob, Deployment or Pod"
        )


async def _created(client: ApiClient, resource: ResourceKind, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object as the cluster would create it."""
    metadata = manifest["metadata"]
    path = resource.collection(metadata["namespace"])
    answer = await client.request("POST", path, body=json.dumps(manifest).encode(), params={"dryRun": "All"})
    if not answer.succeeded:
        raise ClusterError(f"cannot create the {resource.kind} {metadata['name']}: {answer.message()}")
    return answer.document()


def _references(manifest: dict[str, Any]) -> list[Any]:
    return [template["spec"].get("resourceClaims") for template in pod_templates(manifest)]
