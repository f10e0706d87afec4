"""Manifests: read from rendered text, labelled, and compared."""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import HIDDEN
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

Manifest = dict[str, Any]

MANAGED_BY = {"app.kubernetes.io/managed-by": "psap.perf"}
# Where kubectl keeps all that it was given, the values of a Secret too.
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
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


def labelled(manifest: Manifest, labels: Mapping[str, str], namespace: str | None, *, owned: bool = True) -> Manifest:
    """A copy with *labels*, the label of ours if *owned*, and *namespace* where the manifest names none."""
    result = copy.deepcopy(manifest)
    metadata = result["metadata"]
    given = {**(MANAGED_BY if owned else {}), **labels, **(metadata.get("labels") or {})}
    if given:
        metadata["labels"] = given
    if namespace and "namespace" not in metadata:
        metadata["namespace"] = namespace
    return result


def with_secrets(manifests: Iterable[Manifest], values: Mapping[str, Mapping[str, str]]) -> list[Manifest]:
    """Copies in which each Secret that *values* names has its values, by key.

    :raises UsageError: when there is no such Secret.
    """
    results = [copy.deepcopy(manifest) for manifest in manifests]
    secrets = {item["metadata"]["name"]: item for item in results if item["kind"] == "Secret"}
    for name, data in values.items():
        if name not in secrets:
            raise UsageError(f"secrets: there is no Secret {name} among the manifests")
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
        secrets[name]["data"] = {**(secrets[name].get("data") or {}), **encoded}
    return results


def hidden(obj: Mapping[str, Any]) -> dict[str, Any]:
    """*obj* as it may be shown: the values of a Secret are not."""
    result = dict(obj)
    if obj.get("kind") == "Secret":
        for field in ("data", "stringData"):
            if obj.get(field):
                result[field] = dict.fromkeys(obj[field], HIDDEN)
        annotations = obj["metadata"].get("annotations") or {}
        if _APPLIED in annotations:
            result["metadata"] = {**obj["metadata"], "annotations": {**annotations, _APPLIED: HIDDEN}}
    return result


def stable(obj: Mapping[str, Any] | None) -> dict[str, Any]:
    """*obj* without status and the fields the server keeps for itself, fit for a difference."""
    if obj is None:
        return {}
    kept = {key: value for key, value in obj.items() if key != "status"}
    kept["metadata"] = {key: value for key, value in obj["metadata"].items() if key not in _VOLATILE}
    return kept


def readable(obj: Mapping[str, Any]) -> dict[str, Any]:
    """*obj* without the bookkeeping of field managers, which is half of every object, and without secrets."""
    shown = hidden(obj)
    return {**shown, "metadata": {key: value for key, value in shown["metadata"].items() if key != "managedFields"}}


def title(manifest: Mapping[str, Any]) -> str:
    """``Deployment redis/redis-deployment``."""
    metadata = manifest["metadata"]
    namespace = metadata.get("namespace")
    return f"{manifest['kind']} {namespace + '/' if namespace else ''}{metadata['name']}"


def file_name(manifest: Mapping[str, Any]) -> str:
    """``deployment_redis-deployment.yml``."""
    return f"{manifest['kind'].lower()}_{manifest['metadata']['name'].replace(':', '_').replace('/', '_')}.yml"
