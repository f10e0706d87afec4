"""Conversion of OpenShift AI 3's objects between v1 and v2.

After datasciencecluster_conversion.go of api/datasciencecluster/v1 and dscinitialization_conversion.go of
api/dscinitialization/v1 in rhods-operator, branches rhoai-3.3 and rhoai-3.4. Empty components that Go writes for absent
ones are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from perflab.cluster.api import Document

_REMOVED = {"managementState": "Removed"}
# v1 → v2
_RENAMED: Mapping[str, str] = {"datasciencepipelines": "aipipelines"}
_RENAMED_BACK: Mapping[str, str] = {new: old for old, new in _RENAMED.items()}
_CONDITIONS: Mapping[str, str] = {"DataSciencePipelines": "AIPipelines"}
_ONLY_V1 = frozenset(("codeflare", "modelmeshserving"))
# v2 → the name in v1's status.installedComponents
_INSTALLED: Mapping[str, str] = {
    "aipipelines": "data-science-pipelines-operator",
    "modelregistry": "model-registry-operator",
}
_ONLY_V2 = ("trainer", "mlflowoperator")
_ONLY_V2_SINCE_3_4 = "sparkoperator"
_INITIALIZATION = ("applicationsNamespace", "monitoring", "trustedCABundle", "devFlags")


def only_v2(version: tuple[int, ...]) -> tuple[str, ...]:
    """Return the components of v2 that v1 does not have, in the operator's *version*."""
    return (*_ONLY_V2, _ONLY_V2_SINCE_3_4) if version >= (3, 4) else _ONLY_V2


def respond(request: Document, version: tuple[int, ...]) -> Document:
    """Return the response to the request of a ConversionReview, as the operator in *version* does."""
    wanted = request["desiredAPIVersion"]
    converted = [convert(each, wanted, only_v2(version)) for each in request["objects"]]
    return {"uid": request["uid"], "convertedObjects": converted, "result": {"status": "Success"}}


def convert(document: Document, api_version: str, newer: Collection[str]) -> Document:
    """Return *document* in *api_version*; *newer* are the components that only v2 has."""
    if document["apiVersion"] == api_version:
        return document
    to_v2 = api_version.endswith("/v2")
    result = {**document, "apiVersion": api_version}
    if document["kind"] == "DSCInitialization":
        return result | {"spec": _initialization(document.get("spec") or {}, to_v2=to_v2)}
    spec, status = document.get("spec") or {}, document.get("status")
    components = spec.get("components") or {}
    given = dict(_to_v2(components, newer) if to_v2 else _to_v1(components, newer))
    result["spec"] = {**spec, "components": given}
    if status is not None:
        result["status"] = _status(status, newer, to_v2=to_v2)
    return result


def _initialization(spec: Document, *, to_v2: bool) -> Document:
    kept = {name: spec[name] for name in _INITIALIZATION if name in spec}
    if to_v2 and "devFlags" in kept:
        kept["devFlags"] = {name: value for name, value in kept["devFlags"].items() if name == "logLevel"}
    return kept


def _to_v2(components: Document, newer: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Drop components that only v1 has, and set those that only v2 has to Removed, regardless of their value."""
    yield from ((_RENAMED.get(name, name), each) for name, each in components.items() if name not in _ONLY_V1)
    yield from ((name, dict(_REMOVED)) for name in newer)


def _to_v1(components: Document, newer: Collection[str]) -> Iterator[tuple[str, Any]]:
    yield from ((_RENAMED_BACK.get(name, name), each) for name, each in components.items() if name not in newer)


def _status(status: Document, newer: Collection[str], *, to_v2: bool) -> Document:
    components = status.get("components") or {}
    names = _CONDITIONS if to_v2 else {new: old for old, new in _CONDITIONS.items()}
    result = {name: value for name, value in status.items() if name != "installedComponents"}
    result["components"] = dict(_to_v2(components, newer) if to_v2 else _to_v1(components, newer))
    if "conditions" in status:
        result["conditions"] = [{**each, "type": _replaced(each["type"], names)} for each in status["conditions"]]
    if not to_v2:
        result["installedComponents"] = {
            _INSTALLED.get(name, name): each.get("managementState") == "Managed"
            for name, each in components.items()
            if name not in newer
        }
    return result


def _replaced(text: str, names: Mapping[str, str]) -> str:
    for old, new in names.items():
        text = text.replace(old, new)
    return text
