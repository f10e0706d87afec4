"""Manifests: read from rendered text, labelled, and compared."""

from __future__ import annotations

import base64
import copy
import hashlib
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.bounded_yaml import load_yaml_documents
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import HIDDEN
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

Manifest = dict[str, Any]

MANAGED_BY = {"app.kubernetes.io/managed-by": "psap.perf"}
# The kinds whose objects can contain secrets.
_SECRETIVE = ("Secret", "MachineConfig")
_SHOWN_DIGITS = 12
# kubectl stores the applied object here, including the values of a Secret.
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Written by the server, and different in each object or response.
_VOLATILE = ("managedFields", "resourceVersion", "uid", "creationTimestamp", "generation")


def parse_manifests(text: str, where: str) -> list[Manifest]:
    """Return the manifests of a YAML stream.

    Raises:
        UsageError: If it is not YAML, or a document has no apiVersion, kind or name.
    """
    try:
        documents = [document for document in load_yaml_documents(text) if document is not None]
    except yaml.YAMLError as error:
        raise UsageError(f"{where} does not render to YAML: {error}") from error
    return checked(documents, where)


def checked(documents: Iterable[Any], where: str) -> list[Manifest]:
    """Return *documents* as manifests.

    Raises:
        UsageError: If one is not a manifest.
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
    """Return a copy with *labels*, the collection's label if *owned*, and *namespace* if the manifest has none."""
    result = copy.deepcopy(manifest)
    metadata = result["metadata"]
    given = {**(MANAGED_BY if owned else {}), **labels, **(metadata.get("labels") or {})}
    if given:
        metadata["labels"] = given
    if namespace and "namespace" not in metadata:
        metadata["namespace"] = namespace
    return result


def with_secrets(manifests: Iterable[Manifest], values: Mapping[str, Mapping[str, str]]) -> list[Manifest]:
    """Return copies of *manifests* with secret values filled in.

    Args:
        values: By name of a Secret, its values by key; by name of a MachineConfig, contents by path of a file.

    Raises:
        UsageError: If such an object, or such a file in it, is missing.
    """
    results = [copy.deepcopy(manifest) for manifest in manifests]
    holders = {item["metadata"]["name"]: item for item in results if item["kind"] in _SECRETIVE}
    for name, data in values.items():
        if name not in holders:
            raise UsageError(f"secrets: no manifest of a Secret or MachineConfig {name}")
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
        if holders[name]["kind"] == "Secret":
            holders[name]["data"] = {**(holders[name].get("data") or {}), **encoded}
        else:
            _fill_files(holders[name], encoded)
    return results


def _fill_files(config: Manifest, encoded: Mapping[str, str]) -> None:
    ignition = (config.get("spec") or {}).get("config") or {}
    files = {each.get("path"): each for each in (ignition.get("storage") or {}).get("files") or ()}
    for path, content in encoded.items():
        if path not in files:
            raise UsageError(f"secrets: MachineConfig {config['metadata']['name']} has no file {path}")
        files[path]["contents"] = {"source": f"data:;base64,{content}"}


def hidden(obj: Mapping[str, Any]) -> dict[str, Any]:
    """Return *obj* without the values of a Secret, and only with size and sum of each file of a MachineConfig.

    All files are hidden: the operator copies them to other MachineConfigs, where no mark shows which one is secret.
    """
    result = dict(obj)
    if obj.get("kind") not in _SECRETIVE:
        return result
    for field in ("data", "stringData"):
        if obj.get(field):
            result[field] = dict.fromkeys(obj[field], HIDDEN)
    if "spec" in obj:
        result["spec"] = _without_contents(obj["spec"])
    annotations = obj["metadata"].get("annotations") or {}
    if _APPLIED in annotations:
        result["metadata"] = {**obj["metadata"], "annotations": {**annotations, _APPLIED: HIDDEN}}
    return result


def _without_contents(part: Any) -> Any:
    """Return a part of an Ignition configuration without contents, which are URLs with the scheme ``data``."""
    if isinstance(part, Mapping):
        return {key: HIDDEN if key == "passwordHash" else _without_contents(value) for key, value in part.items()}
    if isinstance(part, list):
        return [_without_contents(each) for each in part]
    if isinstance(part, str) and part[:5].lower() == "data:":
        content = _content(part)
        return f"{HIDDEN}, {len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()[:_SHOWN_DIGITS]}"
    return part


def _content(address: str) -> bytes:
    header, _comma, text = address.partition(",")
    content = urllib.parse.unquote_to_bytes(text)
    try:
        return base64.b64decode(content, validate=True) if header.endswith(";base64") else content
    except ValueError:
        return content


def stable(obj: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return *obj* without status and the fields that only the server sets, for a difference."""
    if obj is None:
        return {}
    kept = {key: value for key, value in obj.items() if key != "status"}
    kept["metadata"] = {key: value for key, value in obj["metadata"].items() if key not in _VOLATILE}
    return kept


def readable(obj: Mapping[str, Any]) -> dict[str, Any]:
    """Return *obj* without secrets and the entries of field managers, which are half of every object."""
    shown = hidden(obj)
    return {**shown, "metadata": {key: value for key, value in shown["metadata"].items() if key != "managedFields"}}


def title(manifest: Mapping[str, Any]) -> str:
    """Return kind, namespace and name, such as ``Deployment redis/redis-deployment``."""
    metadata = manifest["metadata"]
    namespace = metadata.get("namespace")
    return f"{manifest['kind']} {namespace + '/' if namespace else ''}{metadata['name']}"


def file_name(manifest: Mapping[str, Any]) -> str:
    """Return a file name such as ``deployment_redis-deployment.yml``."""
    return f"{manifest['kind'].lower()}_{manifest['metadata']['name'].replace(':', '_').replace('/', '_')}.yml"
