"""The GPUs that nodes offer as devices of ResourceSlices, not as an extended resource."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import group_path
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.listing import pages
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.device_claims import (
    API_VERSION,
    CLAIM,
    GPU_DRIVER,
)

_SLICES = f"{group_path(API_VERSION)}/resourceslices"
_OF_DRIVER = f"spec.driver={GPU_DRIVER}"
_TYPE = "type"
_WHOLE = "gpu"


async def gpu_devices(client: ApiClient) -> Mapping[str, int]:
    """Return the number of GPUs by node; empty if the cluster has no such devices, or the user may not list them."""
    first = await client.request("GET", _SLICES, params={"limit": "1", "fieldSelector": _OF_DRIVER})
    if not first.succeeded or not first.document().get("items"):
        return {}
    return count_gpus([each async for page in pages(client, _SLICES, fields=_OF_DRIVER) for each in page])


def count_gpus(slices: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Return the number of whole GPUs by node, in the newest generation of each pool."""
    newest: dict[str, int] = {}
    found: dict[tuple[str, int], Counter[str]] = {}
    for each in slices:
        spec = each["spec"]
        pool, generation = spec["pool"]["name"], spec["pool"]["generation"]
        newest[pool] = max(generation, newest.get(pool, 0))
        whole = sum(_is_whole(device) for device in spec.get("devices") or ())
        # devices of several nodes count for none
        if spec.get("nodeName"):
            found.setdefault((pool, generation), Counter())[spec["nodeName"]] += whole
    total: Counter[str] = Counter()
    for (pool, generation), counts in found.items():
        if generation == newest[pool]:
            total.update(counts)
    return total


def _is_whole(device: Mapping[str, Any]) -> bool:
    attributes = device.get("attributes") or {}
    kind = attributes.get(_TYPE) or attributes.get(f"{GPU_DRIVER}/{_TYPE}") or {}
    return str(kind.get("string", _WHOLE)) == _WHOLE


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
