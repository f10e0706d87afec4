"""The GPUs that nodes offer as devices of ResourceSlices, not as an extended resource."""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.gpu_supply import GPU_DRIVER, count_gpus
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import group_path
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.listing import pages
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.device_claims import (
    API_VERSION,
    CLAIM,
)

_SLICES = f"{group_path(API_VERSION)}/resourceslices"
_OF_DRIVER = f"spec.driver={GPU_DRIVER}"


async def gpu_devices(client: ApiClient) -> Mapping[str, int]:
    """Return the number of GPUs by node; empty if the cluster has no such devices, or the user may not list them."""
    first = await client.request("GET", _SLICES, params={"limit": "1", "fieldSelector": _OF_DRIVER})
    if not first.succeeded or not first.document().get("items"):
        return {}
    return count_gpus([each async for page in pages(client, _SLICES, fields=_OF_DRIVER) for each in page])


async def require_claims(client: ApiClient) -> None:
    """Check that the cluster serves claims of devices.

    Raises:
        ClusterError: If it does not.
    """
    if not await client.exists(group_path(API_VERSION)):
        raise ClusterError(
            f"the cluster at {client.endpoint.server} serves no {CLAIM} of {API_VERSION}, which claims need: use "
            "Kubernetes 1.34 or later, or set no claims"
        )
