"""Compute the components of a DataScienceCluster by the schema of its CustomResourceDefinition."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest

MANAGED, UNMANAGED, REMOVED = "Managed", "Unmanaged", "Removed"
_STATE = "managementState"
_GROUP, _VERSIONS = "datasciencecluster.opendatahub.io", ("v2", "v1")
# components that OpenShift AI 3 removed, added and renamed
GONE = ("codeflare", "modelmeshserving")
NEW = ("mlflowoperator", "sparkoperator", "trainer")
RENAMED: Mapping[str, str] = {"datasciencepipelines": "aipipelines"}
# by API version: OpenShift AI 3 leaves these to their own operators, and refuses Managed
_ENABLED: Mapping[str, Mapping[str, str]] = {"v2": {"kueue": UNMANAGED}}


def written_version(definition: Manifest | None) -> str:
    """Return the API version to write a DataScienceCluster in, the newest one that its definition serves.

    If v2 is served, an object that is written as v1 loses the components that only v2 has.

    Args:
        definition: The CustomResourceDefinition; None or empty if OpenShift AI is not installed yet.
    """
    versions = (definition or {}).get("spec", {}).get("versions") or []
    served = {version["name"] for version in versions if version.get("served", True)}
    return f"{_GROUP}/{next((each for each in _VERSIONS if each in served), _VERSIONS[0])}"


def schema_of(definition: Manifest | None, api_version: str) -> Mapping[str, Any]:
    """Return the schema of *api_version* in a CustomResourceDefinition; empty without one."""
    versions = (definition or {}).get("spec", {}).get("versions") or []
    name = api_version.rpartition("/")[2]
    written: Mapping[str, Any] = next((version for version in versions if version["name"] == name), {})
    schema: Mapping[str, Any] = written.get("schema", {}).get("openAPIV3Schema") or {}
    return schema


def available(schema: Mapping[str, Any]) -> list[str]:
    """Return the names of the schema's components, sorted."""
    fields = _at(schema, ("spec", "components")) or {}
    return sorted(
        name for name, field in (fields.get("properties") or {}).items() if _STATE in field.get("properties", {})
    )


def chosen(
    definition: Manifest | None, present: Mapping[str, Any], enable: Iterable[str], *, others_removed: bool
) -> dict[str, Any]:
    """Return `spec.components` with those of *enable* enabled, and the others removed or unchanged from *present*.

    Without a *definition* the operator is not installed yet, and no component is refused.

    Raises:
        UsageError: If a name of *enable* is not a component.
    """
    api_version = written_version(definition)
    known, wanted = available(schema_of(definition, api_version)), list(enable)
    unknown = [name for name in wanted if known and name not in known]
    if unknown:
        raise UsageError(_unknown(unknown[0], known))
    enabled = _ENABLED.get(api_version.rpartition("/")[2], {})
    states = {name: REMOVED if others_removed else present.get(name, {}).get(_STATE) for name in known}
    states |= {name: enabled.get(name, MANAGED) for name in wanted}
    return {name: {_STATE: state} for name, state in states.items() if state}


def _unknown(name: str, known: Sequence[str]) -> str:
    if RENAMED.get(name) in known:
        return f"enable: the component {name} is called {RENAMED[name]} in this version of OpenShift AI"
    return f"enable: unknown component {name}{did_you_mean(name, known)}; known: {', '.join(known)}"


def with_settings(manifest: Manifest, settings: Mapping[str, Any], schema: Mapping[str, Any]) -> Manifest:
    """Return a copy of *manifest* with each value of *settings* at its dotted path.

    ``Removed`` is skipped for a component that the schema does not have.

    Raises:
        UsageError: If a path does not begin with spec, has a parent that is not a dictionary, or is not in the schema.
    """
    result = copy.deepcopy(manifest)
    for path, value in settings.items():
        names = tuple(path.split("."))
        if names[0] != "spec" or len(names) < 2 or not all(names):
            raise UsageError(
                f"extra_settings: {path!r} must be a path that begins with spec, such as spec.components.kserve"
            )
        unknown = _unknown_field(schema, names)
        if unknown is None:
            _put(result, names, copy.deepcopy(value), path)
        elif value != REMOVED:
            raise UsageError(f"extra_settings: {path}: a DataScienceCluster of this version has no {unknown}")
    return result


def _put(target: dict[str, Any], names: tuple[str, ...], value: Any, path: str) -> None:
    for name in names[:-1]:
        target = target.setdefault(name, {})
        if not isinstance(target, dict):
            raise UsageError(f"extra_settings: {path}: {name} is not a dictionary")
    target[names[-1]] = value


def _at(schema: Mapping[str, Any], names: Iterable[str]) -> Mapping[str, Any] | None:
    """Return the part of *schema* for the field at the path *names*; None if it is missing."""
    for name in names:
        field: Mapping[str, Any] | None = (schema.get("properties") or {}).get(name)
        if field is None:
            return None
        schema = field
    return schema


def _unknown_field(schema: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the path to the first of *names* that the schema does not have; None if it has all."""
    for number, name in enumerate(names, start=1):
        is_open = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
        if not schema or is_open:
            return None
        if name not in (schema.get("properties") or {}):
            return ".".join(names[:number])
        schema = schema["properties"][name]
    return None
