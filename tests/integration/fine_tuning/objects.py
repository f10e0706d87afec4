"""Everything that a cluster holds, to be held against what it held before."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubernetes import client, config

# what lives by the clock; a pool of machines says when one joined it last
FLEETING = frozenset(("Event", "Lease", "EndpointSlice", "MachineConfigPool"))
_ASIDE = (("metadata", "managedFields"), ("metadata", "resourceVersion"), ("metadata", "generation"))
_OBSERVED = (("status", "observedGeneration"),)

Document = dict[str, Any]


@dataclass(frozen=True, order=True)
class Name:
    """What an object is called."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}{'/' if self.namespace else ''}{self.name}"


def objects_of(kubeconfig: Path) -> dict[Name, Document]:
    """All objects of all kinds, without what changes by itself."""
    api = config.new_client_from_config(str(kubeconfig))
    try:
        return dict(_all(api))
    finally:
        api.close()


def _all(api: client.ApiClient) -> Iterator[tuple[Name, Document]]:
    for path, kind in dict(_resources(api)).items():
        for item in _get(api, path)["items"]:
            metadata = item["metadata"]
            yield Name(kind, metadata.get("namespace", ""), metadata["name"]), _settled(item)


def _resources(api: client.ApiClient) -> Iterator[tuple[str, str]]:
    """The path and the kind of all that can be listed, of each group the version that it prefers."""
    groups = _get(api, "/apis")["groups"]
    for base in ("/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)):
        for resource in _get(api, base)["resources"]:
            if "list" in resource["verbs"] and "/" not in resource["name"] and resource["kind"] not in FLEETING:
                yield f"{base}/{resource['name']}", resource["kind"]


def _settled(item: Document) -> Document:
    kept = copy.deepcopy(item)
    for above, key in (*_ASIDE, *_OBSERVED):
        (kept.get(above) or {}).pop(key, None)
    if kept.get("aggregationRule"):
        # those of other roles, which may come with a kind
        kept["rules"] = []
    return kept


def _get(api: client.ApiClient, path: str) -> Any:
    answer = api.rest_client.request("GET", api.configuration.host + path, headers={"Accept": "application/json"})
    return json.loads(answer.data)
