"""Read all objects of a cluster, to compare them with an earlier state."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubernetes import client, config

# kinds that change with time; a pool of machines has the time at which the last one joined
FLEETING = frozenset(("Event", "Lease", "EndpointSlice", "MachineConfigPool"))
_IGNORED = (("metadata", "managedFields"), ("metadata", "resourceVersion"), ("metadata", "generation"))
_OBSERVED = (("status", "observedGeneration"),)

Document = dict[str, Any]


@dataclass(frozen=True, order=True)
class Name:
    """The identity of an object."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}{'/' if self.namespace else ''}{self.name}"


def objects_of(kubeconfig: Path) -> dict[Name, Document]:
    """Return all objects of all kinds, without the fields that change by themselves."""
    api = config.new_client_from_config(str(kubeconfig))
    try:
        return dict(_all(api))
    finally:
        api.close()


def _all(api: client.ApiClient) -> Iterator[tuple[Name, Document]]:
    for path, kind in dict(_resources(api)).items():
        for item in _get(api, path)["items"]:
            metadata = item["metadata"]
            yield Name(kind, metadata.get("namespace", ""), metadata["name"]), _without_changing_fields(item)


def _resources(api: client.ApiClient) -> Iterator[tuple[str, str]]:
    """Yield path and kind of all listable resources, in each group's preferred version."""
    groups = _get(api, "/apis")["groups"]
    for base in ("/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)):
        for resource in _get(api, base)["resources"]:
            if "list" in resource["verbs"] and "/" not in resource["name"] and resource["kind"] not in FLEETING:
                yield f"{base}/{resource['name']}", resource["kind"]


def _without_changing_fields(item: Document) -> Document:
    kept = copy.deepcopy(item)
    for above, key in (*_IGNORED, *_OBSERVED):
        (kept.get(above) or {}).pop(key, None)
    if kept.get("aggregationRule"):
        # the rules of other roles, which may come with a kind
        kept["rules"] = []
    return kept


def _get(api: client.ApiClient, path: str) -> Any:
    answer = api.rest_client.request("GET", api.configuration.host + path, headers={"Accept": "application/json"})
    return json.loads(answer.data)
