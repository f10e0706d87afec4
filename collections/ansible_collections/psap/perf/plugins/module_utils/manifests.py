"""Manifests: read from rendered text, labelled, and compared."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.cluster import Manifest
from ansible_collections.psap.perf.plugins.module_utils.errors import UsageError

MANAGED_BY = {"app.kubernetes.io/managed-by": "psap.perf"}
# Written by the server, and different at every look.
_VOLATILE = ("managedFields", "resourceVersion", "uid", "creationTimestamp", "generation")


def parse_manifests(text: str, where: str) -> list[Manifest]:
    """The manifests of a YAML stream.

    :raises UsageError: when it is no YAML, or a document lacks apiVersion, kind or a name.
    """
    try:
        documents = [document for document in yaml.safe_load_all(text) if document is not None]
    except yaml.YAMLError as error:
        raise UsageError(f"{where} renders to something that is no YAML: {error}") from error
    return checked(documents, where)


def checked(documents: Iterable[Any], where: str) -> list[Manifest]:
    """*documents*, each of which must be a manifest.

    :raises UsageError: when one is not.
    """
    manifests: list[Manifest] = []
    for document in documents:
        if not isinstance(document, Mapping) or not document.get("apiVersion") or not document.get("kind"):
            raise UsageError(f"{where}: a manifest needs apiVersion and kind, but one is {str(document)[:80]!r}")
        if not (document.get("metadata") or {}).get("name"):
            raise UsageError(f"{where}: {document['kind']} has no metadata.name")
        manifests.append(dict(document))
    return manifests


def labelled(manifest: Manifest, labels: Mapping[str, str], namespace: str | None) -> Manifest:
    """A copy with *labels*, and *namespace* where the manifest names none."""
    result = copy.deepcopy(manifest)
    metadata = result["metadata"]
    metadata["labels"] = {**MANAGED_BY, **labels, **(metadata.get("labels") or {})}
    if namespace and "namespace" not in metadata:
        metadata["namespace"] = namespace
    return result


def stable(obj: Mapping[str, Any] | None) -> dict[str, Any]:
    """*obj* without status and the fields the server keeps for itself, fit for a difference."""
    if obj is None:
        return {}
    kept = {key: value for key, value in obj.items() if key != "status"}
    kept["metadata"] = {key: value for key, value in obj["metadata"].items() if key not in _VOLATILE}
    return kept


def readable(obj: Mapping[str, Any]) -> dict[str, Any]:
    """*obj* without the bookkeeping of field managers, which is half of every object."""
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return {**obj, "metadata": metadata}


def title(manifest: Mapping[str, Any]) -> str:
    """``Deployment redis/redis-deployment``."""
    metadata = manifest["metadata"]
    namespace = metadata.get("namespace")
    return f"{manifest['kind']} {namespace + '/' if namespace else ''}{metadata['name']}"


def file_name(manifest: Mapping[str, Any]) -> str:
    """``deployment_redis-deployment.yml``."""
    return f"{manifest['kind'].lower()}_{manifest['metadata']['name'].replace(':', '_').replace('/', '_')}.yml"
