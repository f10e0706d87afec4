"""The predicate for OpenShift AI's kinds DSCInitialization and DataScienceCluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Object, Verdict

_ENABLED = ("Managed", "Unmanaged")
# components that have another name in status.installedComponents
_INSTALLED_AS: Mapping[str, str] = {
    "datasciencepipelines": "data-science-pipelines-operator",
    "modelmeshserving": "model-mesh",
    "modelregistry": "model-registry-operator",
}


def data_science_ready(obj: Object) -> Verdict:
    """Return whether the operator has processed the newest generation, and the wanted components are installed.

    Versions before 2.17 report no generation. With those, the installed components show whether Ready is outdated.
    """
    status = obj.get("status", {})
    if obj["metadata"].get("deletionTimestamp"):
        return Verdict(False, "it is being deleted")
    if status.get("observedGeneration", obj["metadata"].get("generation", 0)) < obj["metadata"].get("generation", 0):
        return Verdict(False, "the operator has not seen the newest generation yet")
    if not status.get("phase"):
        return Verdict(False, "the operator has not processed it yet; does it run?")
    problems = [*_not_ready(obj), *_differences(obj)]
    if status["phase"] != "Ready" or problems:
        return Verdict(False, "; ".join([f"phase {status['phase']}", *problems]))
    return Verdict(True)


def managed_components(obj: Object) -> dict[str, bool]:
    """Return the components that a DataScienceCluster names, and whether they are enabled.

    Kueue is enabled as Unmanaged, too: the operator then configures the Kueue of another operator.
    """
    components = obj.get("spec", {}).get("components") or {}
    return {name: (spec or {}).get("managementState") in _ENABLED for name, spec in components.items()}


def _not_ready(obj: Object) -> Iterator[str]:
    """Yield the conditions of the wanted components that are not true."""
    wanted = {f"{name}ready" for name, managed in managed_components(obj).items() if managed}
    for entry in obj.get("status", {}).get("conditions") or []:
        kind = str(entry.get("type", ""))
        # ReconcileComplete is the condition of a DSCInitialization
        if entry.get("status") != "True" and (kind.lower() in wanted or kind == "ReconcileComplete"):
            yield f"{kind} is {entry.get('status')}: {entry.get('message') or entry.get('reason', '')}"


def _differences(obj: Object) -> Iterator[str]:
    # API version v2 has no such list, and always an observedGeneration
    installed = obj.get("status", {}).get("installedComponents")
    states = obj.get("spec", {}).get("components") or {}
    for name, managed in managed_components(obj).items() if installed is not None else ():
        if (states[name] or {}).get("managementState") == "Unmanaged":
            continue
        there = installed.get(name, installed.get(_INSTALLED_AS.get(name, ""), False))
        if there and not managed:
            yield f"{name} is still installed"
        elif managed and not there:
            yield f"{name} is not installed yet"
